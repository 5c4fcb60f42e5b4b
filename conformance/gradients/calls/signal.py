"""Calls of scipy.signal."""

from __future__ import annotations

import numpy as np

from conformance.gradients.calls.parts import HALF, SECTIONS, call, named, of_each
from conformance.gradients.operands import DEN, LINE, NUM, POLES, A, X, Y, normal

LONG = normal(200)
FREQUENCIES = A[0]
CUTOFF = np.asarray(0.3)

CALLS = [
    *named("signal", "convolve correlate", LINE, NUM, note="method='fft'", method="fft"),
    *named("signal", "convolve correlate", LINE, NUM, note="method='direct'", method="direct"),
    *named("signal", "convolve correlate", X, Y[:2, :2], note="of matrices", mode="same"),
    *named("signal", "convolve2d correlate2d", X, Y[:2, :2]),
    *named("signal", "convolve2d correlate2d", X, Y[:2, :2], note="wrap", mode="same", boundary="wrap"),
    *named("signal", "fftconvolve", LINE, NUM),
    *named("signal", "fftconvolve", X, Y, note="axes", mode="same", axes=1),
    *named("signal", "oaconvolve", LONG, NUM),
    *named("signal", "deconvolve", LINE[:8], np.asarray([1.3, -0.4, 0.1])),
    *of_each("signal", "lfilter", b=NUM, a=DEN, x=X),
    *of_each("signal", "filtfilt", b=NUM, a=DEN, x=LINE),
    # The leading coefficients of the denominators must be 1.
    *[
        call(
            f"signal.{name} by both",
            lambda xp, f, b, a, x: f(xp.concat((b, xp.asarray([[1.0], [1.0]]), a), axis=1), x),
            SECTIONS[:, :3],
            SECTIONS[:, 4:],
            LINE,
        )
        for name in ("sosfilt", "sosfiltfilt")
    ],
    *named("signal", "lfiltic", NUM, DEN, LINE[:3], LINE[3:6]),
    *named("signal", "lfilter_zi", NUM, DEN),
    *named("signal", "savgol_filter", LINE, window_length=5, polyorder=2),
    *named("signal", "savgol_filter", X, note="wrap", window_length=5, polyorder=2, mode="wrap", deriv=1),
    *of_each("signal", "upfirdn", h=NUM, x=LINE, up=2, down=1),
    *named("signal", "resample_poly", X, up=3, down=2, axis=1),
    *named("signal", "resample", X, num=12, axis=1),
    *named("signal", "detrend", LINE),
    *named("signal", "detrend", X, note="constant", type="constant", axis=0),
    *named("signal", "hilbert hilbert2", X),
    *named("signal", "envelope", LINE, bp_in=(1, 10)),
    *named("signal", "cspline1d qspline1d", LINE),
    *named("signal", "cspline2d", normal(12, 12), precision=1e-3),
    *named("signal", "spline_filter", normal(20, 20), lmbda=1.0),
    call("signal.cspline1d_eval", lambda xp, f, c: f(c, xp.asarray([1.3, 2.6, 5.2])), LINE),
    call("signal.qspline1d_eval", lambda xp, f, c: f(c, xp.asarray([1.3, 2.6, 5.2])), LINE),
    call("signal.cspline1d_eval by newx", lambda xp, f, x: f(xp.asarray(LINE), x), 3 + A[0]),
    *named("signal", "medfilt2d", A, kernel_size=3),
    *named("signal", "medfilt", A, kernel_size=3),
    *named("signal", "order_filter", A, domain=np.ones((3, 3)), rank=4),
    *named("signal", "wiener", X, mysize=3),
    *named("signal", "vectorstrength", LINE, period=3.0),
    *named("signal", "gauss_spline", X, n=3),
    # Design of filters
    *named("signal", "lp2bp lp2bs lp2hp lp2lp normalize", 10 * NUM, 10 * DEN),
    # Independent of the order of zeros and poles.
    call("signal.tf2zpk", lambda xp, f, b, a: [xp.sum(x**3) for x in f(b, a)[:2]], NUM, DEN),
    *named("signal", "bilinear", NUM, DEN),
    *named("signal", "tf2sos", NUM, DEN),
    *named("signal", "minimum_phase", np.asarray([0.2, 0.9, 0.3])),
    *named("signal", "sos2zpk sos2tf", SECTIONS),
    call("signal.sosfilt_zi", lambda xp, f, s: f(s), np.asarray([[0.25, 0.1, 0.3, 1.25, 0.25, 0.1]])),
    *named("signal", "zpk2tf zpk2sos", NUM[:2], POLES[:2], k=1.0),
    call("signal.bilinear_zpk", lambda xp, f, z, p, k: f(z, p, k, 2.0), NUM[:2], POLES, HALF),
    *[
        call(f"signal.{name}", lambda xp, f, z, p: f(z, p, 1.0)[:2], 1j + NUM[:2], 1j + POLES)
        for name in ("lp2bp_zpk", "lp2bs_zpk", "lp2hp_zpk", "lp2lp_zpk")
    ],
    call("signal.firwin", lambda xp, f, cutoff: f(5, cutoff), CUTOFF),
    call(
        "signal.firwin2", lambda xp, f, g: f(9, xp.asarray([0.0, 0.3, 1.0]), g), np.asarray([1.0, 0.6, 0.1])
    ),
    call(
        "signal.firls",
        lambda xp, f, d: f(9, xp.asarray([0.0, 0.3, 0.5, 1.0]), d),
        np.asarray([1.0, 0.9, 0.2, 0.1]),
    ),
    call(
        "signal.remez", lambda xp, f, d: f(9, xp.asarray([0.0, 0.15, 0.25, 0.5]), d), np.asarray([1.0, 0.2])
    ),
    *[call(f"signal.{name} by Wn", lambda xp, f, w: f(2, w), CUTOFF) for name in ("butter", "bessel")],
    call("signal.cheby1 by Wn", lambda xp, f, w: f(2, 1.0, w), CUTOFF),
    call("signal.cheby2 by Wn", lambda xp, f, w: f(2, 30.0, w), CUTOFF),
    call("signal.ellip by Wn", lambda xp, f, w: f(2, 1.0, 30.0, w), CUTOFF),
    call("signal.iirfilter by Wn", lambda xp, f, w: f(2, w, btype="lowpass"), CUTOFF),
    # Responses
    call("signal.freqs", lambda xp, f, b, a, w: f(b, a, w)[1], NUM, DEN, FREQUENCIES),
    call("signal.freqz", lambda xp, f, b, a, w: f(b, a, w)[1], NUM, DEN, FREQUENCIES),
    call("signal.freqs_zpk", lambda xp, f, z, p, w: f(z, p, 1.0, w)[1], NUM[:2], POLES, FREQUENCIES),
    call("signal.freqz_zpk", lambda xp, f, z, p: f(z, p, 1.0, 8)[1], NUM[:2], DEN[1:]),
    *[
        call(
            f"signal.{name}",
            lambda xp, f, s: f(
                xp.concat((s, xp.asarray([[1.0], [1.0]]), xp.asarray(SECTIONS[:, 4:])), axis=1), 8
            )[1],
            SECTIONS[:, :3],
        )
        for name in ("freqz_sos", "sosfreqz")
    ],
    call("signal.group_delay", lambda xp, f, b, a: f((b, a), 8)[1], NUM, DEN),
    # Windows
    call("signal.windows.general_cosine", lambda xp, f, a: f(8, a), NUM),
    # Beyond SciPy's list: what it computes with NumPy alone.
    *named("signal", "czt periodogram sawtooth welch", LINE),
    *named("signal", "csd coherence", LINE, normal(24, seed=1), nperseg=8),
    *named("signal", "chirp", LINE, f0=1.0, t1=1.0, f1=2.0),
    *named("signal", "stft", LINE, nperseg=8),
]

NOT_CALLED: dict[str, str] = {
    "has only Python numbers as floating-point arguments": (
        "signal.besselap signal.buttap signal.cheb1ap signal.cheb2ap signal.ellipap signal.gammatone"
        " signal.get_window signal.savgol_coeffs signal.iircomb signal.iirdesign signal.iirnotch"
        " signal.iirpeak"
        " signal.buttord signal.cheb1ord signal.cheb2ord signal.ellipord"
        " signal.windows.barthann signal.windows.bartlett"
        " signal.windows.blackman signal.windows.blackmanharris"
        " signal.windows.bohman signal.windows.boxcar signal.windows.chebwin signal.windows.cosine"
        " signal.windows.exponential signal.windows.flattop signal.windows.gaussian"
        " signal.windows.general_gaussian signal.windows.general_hamming signal.windows.get_window"
        " signal.windows.hamming signal.windows.hann signal.windows.kaiser"
        " signal.windows.kaiser_bessel_derived signal.windows.lanczos signal.windows.nuttall"
        " signal.windows.parzen signal.windows.taylor signal.windows.triang signal.windows.tukey"
    ),
    "returns a word": "signal.choose_conv_method",
    "computes with systems, with NumPy only": (
        "signal.abcd_normalize signal.bode signal.impulse signal.place_poles"
    ),
}
