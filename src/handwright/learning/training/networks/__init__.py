"""Networks of torch, and their way into ONNX files."""
