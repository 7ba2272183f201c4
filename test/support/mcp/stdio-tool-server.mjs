// A tool server over its standard input and output, of the official library: `node stdio-tool-server.mjs`.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const names = ['count', 'crash', 'define', 'echo', 'fail', 'fork', 'hang', 'look', 'read', 'wait']
const definitions = new Map()
let cancelled = 0

serveStdio(() => {
  const server = new Server({ name: 'stdio', version: '1' }, { capabilities: { tools: { listChanged: true } } })
  server.setRequestHandler('tools/list', () => ({
    tools: names.map((name) => ({ name, inputSchema: { type: 'object' }, ...definitions.get(name) })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { name, arguments: input = {}, _meta } = params
    const act = { count, crash, define, fork, hang, look, read, wait }[name] ?? (() => input)
    const answer = await act(input, { server, mcpReq, token: _meta?.progressToken, meta: _meta })
    const content = [{ type: 'text', text: JSON.stringify(answer) }]
    return { content, structuredContent: answer, ...(name === 'fail' ? { isError: true } : {}) }
  })
  return server
})

async function count(input, { mcpReq, token }) {
  for (const progress of token === undefined ? [] : [1, 2, 3])
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token, progress, total: 3 } })
  return input
}

async function define({ name, ...fields }, { server }) {
  definitions.set(name, fields)
  await server.sendToolListChanged()
  return {}
}

async function wait(_, { mcpReq }) {
  await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve))
  cancelled += 1
  return {}
}

function crash() {
  console.error(`crashing with ${process.env.API_KEY}\u001b[31m`)
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

/** For good: nothing else of it runs any more. */
function hang() {
  for (;;);
}

/** Processes that go on without it, if they can. */
function fork({ mark }) {
  spawn('/bin/sh', ['-c', `trap '' TERM HUP; setsid sleep ${mark} & sleep ${mark}`], {
    detached: true,
    stdio: 'ignore',
  })
  return { pid: process.pid }
}

function look(_, { meta }) {
  const { API_KEY, LEVEL } = process.env
  return {
    API_KEY,
    LEVEL,
    HOME: process.env.HOME,
    args: process.argv.slice(2),
    cancelled,
    traceparent: meta?.traceparent,
  }
}

/** The state of the machine, as it finds it. */
async function read({ files, port }) {
  const found = files.filter((file) => fs.existsSync(file))
  return { found, connected: await connect(port), written: ['/canary', '/usr/canary', '/etc/canary'].some(write) }
}

function connect(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  })
}

function write(file) {
  try {
    fs.writeFileSync(file, '')
    return true
  } catch {
    return false
  }
}
