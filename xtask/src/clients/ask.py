"""Asks a server for answers with the official OpenAI client, and prints what was heard as lines of JSON.

    python ask.py BASE_URL < cases

`cases` is a list of {"name": …, "stream": …}. Streams go through the client's own assembler,
`client.chat.completions.stream`. The form of what is printed is that of `thermidor_testing::Heard`.
"""

import json
import sys

import openai


def code_of(error):
    """The provider's code or, where that is a number or missing, its type."""
    words = [word for word in (error.code, error.type) if word not in (None, "")]
    telling = [word for word in words if not str(word).isdigit()]
    return str((telling or words)[0]) if words else None


def without_empty(fields):
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def words(*texts):
    """The texts joined. Half a surrogate pair, which UTF-8 cannot hold, is shown as its escape."""
    return "".join(text or "" for text in texts).encode("utf-8", "backslashreplace").decode()


def usage_of(usage):
    if usage is None:
        return None
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    counts = {"input": usage.prompt_tokens, "output": usage.completion_tokens}
    if prompt is not None and prompt.cached_tokens:
        counts["cached"] = prompt.cached_tokens
    if completion is not None and completion.reasoning_tokens:
        counts["reasoning"] = completion.reasoning_tokens
    return counts


def call_of(id, function):
    call = {"name": words(function.name), "arguments": words(function.arguments)}
    return {"id": id, **call} if id else call


def message_of(message):
    extra = message.model_extra or {}
    calls = [call_of(call.id, call.function) for call in message.tool_calls or []]
    if message.function_call is not None:
        calls.append(call_of(None, message.function_call))
    text, thoughts = words(message.content, message.refusal), extra.get("reasoning_content") or extra.get("reasoning")
    return without_empty({"text": text, "reasoning": words(thoughts), "calls": calls})


def completion_of(completion):
    heard = {"usage": usage_of(completion.usage)}
    if completion.choices:
        choice = completion.choices[0]
        heard = {**message_of(choice.message), "finish": choice.finish_reason, **heard}
    return without_empty(heard)


def hear_stream(client, request, heard):
    """Fills `heard` on the way, so that what came before an error counts."""
    with client.chat.completions.stream(**request, stream_options={"include_usage": True}) as stream:
        for event in stream:
            if event.type == "chunk" and event.snapshot.choices:
                heard.update(message_of(event.snapshot.choices[0].message))
        heard.update(completion_of(stream.get_final_completion()))


def hear(client, case):
    request = {"model": "mock-wire-" + case["name"], "messages": [{"role": "user", "content": "Go"}]}
    heard, raised = {}, None
    try:
        if case["stream"]:
            hear_stream(client, request, heard)
        else:
            heard = completion_of(client.chat.completions.create(**request))
    except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as error:
        # How the assembler says these two finish reasons; what it has of the answer comes with it.
        heard = completion_of(error.completion)
    except openai.APIStatusError as error:
        raised, heard["error"] = error, without_empty({"status": error.status_code, "code": code_of(error)})
    except openai.APIError as error:
        # In the middle of an answer only the fact is compared.
        raised, heard["error"] = error, {} if heard else without_empty({"code": code_of(error)})
    except Exception as error:  # whatever its own code trips over is a finding
        raised, heard["error"] = error, {}
    return heard, raised and f"{type(raised).__name__}: {raised}"


def main():
    client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=10)
    for case in json.load(sys.stdin):
        heard, raised = hear(client, case)
        print(json.dumps({"name": case["name"], "heard": heard, "raised": raised}), flush=True)


main()
