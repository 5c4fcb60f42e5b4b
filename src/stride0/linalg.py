"""The extension "Linear Algebra Extension"."""
