"""Motions with flight: phases and key poses as data, and the plans that HiLQR makes of them."""
