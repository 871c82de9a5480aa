"""Streams answers through the official OpenAI client, and prints the cost of each round as a line of JSON.

    python stream.py BASE_URL MODEL TOKENS ROUNDS STREAMS
"""

import json
import sys
import time

import openai


def main():
    base_url, model = sys.argv[1:3]
    tokens, rounds, streams = map(int, sys.argv[3:6])
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    for number in range(rounds + 1):
        wall, cpu, length = time.perf_counter(), time.process_time(), 0
        for _ in range(streams):
            answer = client.chat.completions.create(
                model=model,
                messages=[{"role": "user", "content": "Go"}],
                stream=True,
                stream_options={"include_usage": True},
            )
            for chunk in answer:
                if chunk.choices and chunk.choices[0].delta.content:
                    length += len(chunk.choices[0].delta.content)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if length != streams * tokens * len("token "):
            raise SystemExit("words were lost")
        if number > 0:  # the first round warms up
            count = streams * tokens
            print(json.dumps({"rate": count / wall, "cpu": cpu * 1e6 / count}), flush=True)


main()
