"""Graph, Matrix and Vector as data: what they hold, in which layouts it is kept, who has been lent it."""
