"""A text as a QR code, drawn with attributes only: the page's policy allows no inline style."""

import qrcode
from django.utils.safestring import SafeString, mark_safe
from qrcode.image.svg import SvgPathImage


def svg(text: str) -> SafeString:
    """Black on nothing; the page puts white behind it in both themes, as readers of such codes expect."""
    drawn = qrcode.make(text, image_factory=SvgPathImage, border=4, error_correction=qrcode.constants.ERROR_CORRECT_M)
    text_of_it: str = drawn.to_string(encoding="unicode").removeprefix("<?xml version='1.0' encoding='UTF-8'?>\n")
    return mark_safe(text_of_it)  # modules only; the text itself does not stand in it
