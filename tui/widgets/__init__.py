"""The parts of the screens. They paint text as text: no markup, and only what has changed."""
