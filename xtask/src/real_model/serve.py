"""Serves one GGUF model with llama.cpp's own OpenAI-compatible server, on loopback.

arguments: MODEL PORT CONTEXT THREADS

Ends when its standard input does, so that it never outlives the process that started it.
"""

import os
import signal
import sys

import xllamacpp

model, port, context, threads = sys.argv[1], *map(int, sys.argv[2:])
# Ctrl-C reaches the whole process group: whoever started this decides what it means.
signal.signal(signal.SIGINT, signal.SIG_IGN)

params = xllamacpp.CommonParams()
params.model.path = model
params.hostnames = ["127.0.0.1"]
params.port = port
params.offline = True
params.ui = False
params.use_jinja = True
# The context is shared among the slots.
params.n_parallel = 1
params.n_ctx = context * params.n_parallel
params.cpuparams.n_threads = threads
params.cpuparams_batch.n_threads = threads
params.sampling.temp = 0.0
params.sampling.seed = 1
# Without these, so small a model says the same sentence until it is cut off.
params.sampling.penalty_repeat = 1.1
params.sampling.dry_multiplier = 0.8
params.endpoint_slots = True

server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
# Without waiting for answers that nobody listens to.
os._exit(0)
