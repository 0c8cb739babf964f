"""Asks questions.json of a server over stdio with the official Python client: client.py COMMAND ARGUMENTS…

The client checks each result against the tool's output schema and raises where it does not fit.
"""
import asyncio
import json
import os
import sys
from importlib.metadata import version

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "questions.json"), encoding="utf-8") as file:
        questions = json.load(file)
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        for question in questions:
            name = question["tool"]
            assert name in tools, f"no tool {name}"
            result = await session.call_tool(name, question["arguments"])
            # Version 1 writes isError and structuredContent, version 2 is_error and structured_content.
            said = result.model_dump(by_alias=True)
            assert said["isError"] == question["error"], (question, said)
            structured, text = said["structuredContent"], json.loads(said["content"][0]["text"])
            assert structured == text and ("error_type" in text) == question["error"], (question, said)
    print(f"ok      Python {version('mcp')}: {len(questions)} calls")


asyncio.run(main())
