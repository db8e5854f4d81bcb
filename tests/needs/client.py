import asyncio, json, sys
from mcp import ClientSession, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamable_http_client

seen = []

async def sampled(context, params):
    seen.append(["asked for a sample"])
    text = types.TextContent(type="text", text="a sample")
    return types.CreateMessageResult(role="assistant", content=text, model="m")

async def elicited(context, params):
    seen.append(["asked the user"])
    return types.ElicitResult(action="decline")

async def progressed(progress, total, message):
    seen.append(["progress", progress, total])

async def talk(streams, calls):
    async with ClientSession(streams[0], streams[1], sampling_callback=sampled, elicitation_callback=elicited) as session:
        info = await session.initialize()
        tools = await session.list_tools()
        seen.append(sorted(tool.name for tool in tools.tools))
        for name, arguments, patience in calls:
            try:
                result = await session.call_tool(name, arguments, read_timeout_seconds=patience, progress_callback=progressed)
                seen.append([name, json.loads(result.model_dump_json(exclude_none=True))])
            except Exception as error:
                seen.append([name, type(error).__name__])

async def main():
    way, calls, *server = sys.argv[1:]
    if way == "http":
        connected = streamable_http_client(server[0])
    else:
        connected = stdio_client(StdioServerParameters(command=server[0], args=server[1:]))
    async with connected as streams:
        await talk(streams, json.loads(calls))

asyncio.run(main())
print(json.dumps(seen, indent=1))
