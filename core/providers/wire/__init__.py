"""What goes over the line, API by API: requests, answers as they stream, errors. For the providers alone."""
