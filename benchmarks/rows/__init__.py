"""Every public function compared with NumPy."""
