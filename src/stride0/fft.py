"""The extension "Fourier transform Functions"."""
