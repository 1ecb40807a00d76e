"""What an artist may ask of the search, and how it is applied."""
