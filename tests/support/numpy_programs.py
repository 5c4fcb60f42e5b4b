"""Programs in NumPy's style, each a function of the module `np`, which is NumPy or `stride0.numpy`.

They return their results; random numbers come from seeds, so that both modules draw the same numbers.
"""

from __future__ import annotations

from typing import Any


def n_body(np: Any) -> Any:
    """Planets that attract each other, by the leapfrog method; the total energy stays constant."""
    np.random.seed(1)
    count, step, softening = 12, 0.01, 0.1
    mass = 20.0 * np.ones((count, 1)) / count
    position = np.random.randn(count, 3)
    velocity = np.random.randn(count, 3)
    velocity -= np.mean(mass * velocity, 0) / np.mean(mass)

    def acceleration(position: Any) -> Any:
        x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
        dx, dy, dz = x.T - x, y.T - y, z.T - z
        inverse = (dx**2 + dy**2 + dz**2 + softening**2) ** (-1.5)
        return np.hstack([(dx * inverse) @ mass, (dy * inverse) @ mass, (dz * inverse) @ mass])

    def energy(position: Any, velocity: Any) -> Any:
        kinetic = 0.5 * np.sum(np.sum(mass * velocity**2))
        distance = np.sqrt(np.sum((position[:, None] - position[None]) ** 2, axis=-1) + softening**2)
        potential = np.sum(np.sum(np.triu(-(mass * mass.T) / distance, 1)))
        return kinetic + potential

    pull = acceleration(position)
    energies = np.zeros(51)
    energies[0] = energy(position, velocity)
    for k in range(50):
        velocity += pull * step / 2.0
        position += velocity * step
        pull = acceleration(position)
        velocity += pull * step / 2.0
        energies[k + 1] = energy(position, velocity)
    return position, velocity, energies


def heat_equation(np: Any) -> Any:
    """A hot disc on a cold plate, by explicit differences."""
    n, dt, diffusion = 40, 0.1, 0.8
    yy, xx = np.mgrid[0:n, 0:n]
    u = np.where((xx - n / 2) ** 2 + (yy - n / 2) ** 2 < 36, 700.0, 300.0)
    for _ in range(60):
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += diffusion * dt * laplacian
        u[0, :], u[-1, :] = u[1, :], u[-2, :]
        u[:, 0], u[:, -1] = u[:, 1], u[:, -2]
    return u, u.max(), np.unravel_index(np.argmax(u), u.shape), np.histogram(u, bins=5)


def kalman_filter(np: Any) -> Any:
    """Position and speed of a cart from measured positions."""
    rng = np.random.RandomState(7)
    dt = 0.5
    F = np.array([[1, dt], [0, 1]])
    B = np.array([[0.5 * dt**2], [dt]])
    H = np.array([[1, 0]])
    Q = np.eye(2) * 0.01
    R = np.array([[4.0]])
    x, P = np.zeros((2, 1)), np.diag([100.0, 100.0])
    truth = np.cumsum(np.full(40, 0.8)) ** 1.5
    track = []
    for z in truth + rng.normal(0, 2, size=40):
        x = np.dot(F, x) + B * 0.3
        P = np.dot(np.dot(F, P), F.T) + Q
        y = np.atleast_2d(z) - np.dot(H, x)
        S = np.dot(H, np.dot(P, H.T)) + R
        K = np.dot(np.dot(P, H.T), np.linalg.inv(S))
        x = x + np.dot(K, y)
        P = (np.identity(2) - K @ H) @ P
        track.append(np.concatenate((x[:, 0], [np.trace(P)])))
    return np.vstack(track), np.sqrt(np.mean((np.array(track)[:, 0] - truth) ** 2))


def k_means(np: Any) -> Any:
    """Lloyd's algorithm on three clouds of points."""
    np.random.seed(3)
    centres = np.array([[0, 0], [6, 1], [2, 7]])
    points = np.vstack([np.random.normal(c, 1.0, size=(60, 2)) for c in centres])
    np.random.shuffle(points)
    means = points[np.random.choice(len(points), 3, replace=False)]
    for _ in range(50):
        distances = np.linalg.norm(points[:, np.newaxis] - means, axis=2)
        labels = np.argmin(distances, axis=1)
        moved = np.array([points[labels == k].mean(axis=0) for k in range(3)])
        if np.allclose(moved, means):
            break
        means = moved
    order = np.lexsort((means[:, 1], means[:, 0]))
    inertia = np.sum(np.min(distances, axis=1) ** 2)
    return means[order], np.bincount(labels, minlength=3), inertia, np.unique(labels, return_counts=True)


def page_rank(np: Any) -> Any:
    """Importance of pages by their links, by iteration and by eigenvectors."""
    links = {0: [1, 2], 1: [2], 2: [0], 3: [0, 2], 4: [3, 1, 0], 5: []}
    n, damping = len(links), 0.85
    matrix = np.zeros((n, n))
    for page, targets in links.items():
        if targets:
            matrix[targets, page] = 1.0 / len(targets)
        else:
            matrix[:, page] = 1.0 / n
    google = damping * matrix + (1 - damping) / n * np.ones_like(matrix)
    rank = np.ones(n) / n
    for count in range(200):  # noqa: B007 - it is returned
        before = rank.copy()
        rank = google @ rank
        if np.abs(rank - before).sum() < 1e-12:
            break
    values, vectors = np.linalg.eig(google)
    main = np.real(vectors[:, np.argmax(np.real(values))])
    return rank, np.argsort(-rank), count, main / main.sum(), np.allclose(rank, main / main.sum())


def neural_net(np: Any) -> Any:
    """A network of two layers learns exclusive or, with derivatives by hand."""
    np.random.seed(0)
    X = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    y = np.array([[0], [1], [1], [0]])
    first = 2 * np.random.random((3, 5)) - 1
    second = 2 * np.random.random((5, 1)) - 1
    losses = []
    for step in range(300):
        hidden = np.tanh(np.dot(X, first))
        output = 1 / (1 + np.exp(-(hidden @ second)))
        error = y - output
        if step % 50 == 0:
            losses.append(float(np.mean(np.abs(error))))
        delta = error * output * (1 - output)
        hidden_delta = np.dot(delta, second.T) * (1 - np.power(hidden, 2))
        second += 0.5 * np.dot(hidden.T, delta)
        first += 0.5 * np.dot(X.T, hidden_delta)
    return output, first, second, losses, np.round(output).astype(int)


def mandelbrot(np: Any) -> Any:
    """The number of steps until each point of a grid escapes."""
    with np.errstate(over="ignore", invalid="ignore"):
        x, y = np.linspace(-2.25, 0.75, 48), np.linspace(-1.25, 1.25, 36)
        C = x + y[:, None] * 1j
        N = np.zeros(C.shape, dtype=int)
        Z = np.zeros(C.shape, np.complex128)
        for n in range(30):
            inside = abs(Z) < 2.0
            N[inside] = n
            Z[inside] = Z[inside] ** 2 + C[inside]
        N[N == 29] = 0
    return N, np.count_nonzero(N == 0), np.bincount(N.ravel())


def monte_carlo(np: Any) -> Any:
    """A straight line through points with noise, by the algorithm of Metropolis."""
    rng = np.random.RandomState(11)
    x = np.linspace(0, 10, 25)
    y = 1.5 * x + 2.0 + rng.normal(scale=1.0, size=x.shape)

    def log_likelihood(theta: Any) -> Any:
        slope, offset, spread = theta
        if spread <= 0:
            return -np.inf
        return -0.5 * np.sum(((y - slope * x - offset) / spread) ** 2) - len(x) * np.log(spread)

    theta = np.array([1.0, 0.0, 1.0])
    current, accepted, chain = log_likelihood(theta), 0, np.empty((400, 3))
    for k in range(400):
        proposal = theta + rng.normal(0, [0.05, 0.2, 0.1])
        candidate = log_likelihood(proposal)
        if np.log(rng.rand()) < candidate - current:
            theta, current, accepted = proposal, candidate, accepted + 1
        chain[k] = theta
    kept = chain[100:]
    return kept.mean(axis=0), np.percentile(kept, [16, 50, 84], axis=0), accepted, np.cov(kept, rowvar=False)


def game_of_life(np: Any) -> Any:
    """A glider and a random soup on a torus."""
    np.random.seed(5)
    grid = (np.random.random((32, 32)) < 0.3).astype(np.uint8)
    grid[:5, :5] = 0
    grid[1:4, 1:4] = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=np.uint8)
    population = [int(grid.sum())]
    for _ in range(25):
        neighbours = sum(
            np.roll(np.roll(grid, dy, axis=0), dx, axis=1)
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if (dy, dx) != (0, 0)
        )
        birth = (neighbours == 3) & (grid == 0)
        survive = ((neighbours == 2) | (neighbours == 3)) & (grid == 1)
        grid[...] = 0
        grid[birth | survive] = 1
        population.append(int(np.sum(grid)))
    return grid, np.array(population), np.argwhere(grid)[:10], np.pad(grid, 1, mode="wrap")


def boids(np: Any) -> Any:
    """Birds that follow, meet and avoid their neighbours."""
    np.random.seed(9)
    n = 25
    position = np.random.uniform(0, 100, (n, 2))
    angle = np.random.uniform(0, 2 * np.pi, n)
    velocity = np.column_stack((np.cos(angle), np.sin(angle)))
    for _ in range(20):
        dx = np.subtract.outer(position[:, 0], position[:, 0])
        dy = np.subtract.outer(position[:, 1], position[:, 1])
        distance = np.hypot(dx, dy)
        near = (distance > 0) & (distance < 25)
        count = np.maximum(near.sum(axis=1), 1).reshape(n, 1)
        alignment = np.dot(near, velocity) / count
        cohesion = np.dot(near, position) / count - position
        away = np.dstack((dx, dy)) / np.where(distance == 0, np.inf, distance**2)[..., np.newaxis]
        separation = (away * near[:, :, None]).sum(axis=1)
        velocity += 0.05 * alignment + 0.01 * cohesion + 0.5 * separation
        speed = np.sqrt((velocity * velocity).sum(axis=1)).reshape(n, 1)
        np.multiply(velocity, 1.5 / speed, out=velocity, where=speed > 1.5)
        position = (position + velocity) % 100
    return position, velocity, np.mean(speed), np.corrcoef(velocity.T)


def spectrum(np: Any) -> Any:
    """Tones in noise, by windows, transforms and a convolution."""
    rng = np.random.default_rng(4)
    rate, n = 200.0, 400
    t = np.arange(n) / rate
    signal = np.sin(2 * np.pi * 12 * t) + 0.5 * np.sin(2 * np.pi * 43 * t) + 0.3 * rng.standard_normal(n)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / (n - 1))
    power = np.abs(np.fft.rfft(signal * window)) ** 2
    frequencies = np.fft.rfftfreq(n, 1 / rate)
    peaks = np.where((power[1:-1] > power[:-2]) & (power[1:-1] > power[2:]))[0] + 1
    best = peaks[np.argsort(power[peaks])[::-1][:2]]
    kernel = np.ones(5) / 5
    smooth = np.convolve(signal, kernel, mode="same")
    slope, offset = np.polyfit(t, smooth, 1)
    return frequencies[best], smooth, slope, offset, np.gradient(smooth, t), np.trapezoid(power, frequencies)


PROGRAMS = (
    *(n_body, heat_equation, kalman_filter, k_means, page_rank, neural_net, mandelbrot, monte_carlo),
    *(game_of_life, boids, spectrum),
)
