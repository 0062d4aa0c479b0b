internal import DeviceLab
