"""What every layer uses: checked arguments, files written whole, threads and progress bars."""
