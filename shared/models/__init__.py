"""What the blog is made of: the shapes of requests, answers and items, and the rules of their fields."""
