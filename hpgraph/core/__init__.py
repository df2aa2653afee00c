"""What everything else stands on: devices, settings, errors, locks, numbers, the folder of compiled code."""
