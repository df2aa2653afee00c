"""What is published beside the library's own wheel."""
