# Lists and calls tools by the Python client fastmcp: reads {url, token, calls: [{name, arguments}]} on standard input and
# prints {tools: [...], results: [{name, structured, is_error}]}.
import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def main():
    given = json.load(sys.stdin)
    headers = {"Authorization": f"Bearer {given['token']}"}
    async with Client(StreamableHttpTransport(given["url"], headers=headers)) as client:
        tools = [tool.name for tool in await client.list_tools()]
        results = []
        for call in given["calls"]:
            result = await client.call_tool(call["name"], call["arguments"], raise_on_error=False)
            results.append(
                {
                    "name": call["name"],
                    "structured": result.structured_content,
                    "is_error": result.is_error,
                    "text": result.content[0].text if result.content else "",
                }
            )
    json.dump({"tools": tools, "results": results}, sys.stdout)


asyncio.run(main())
