"""The base of all other packages: devices, settings, errors, locks, numbers, the cache folder."""
