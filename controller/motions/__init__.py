"""Motions with flight: phases and key poses as data, and the references that HiLQR makes of them."""
