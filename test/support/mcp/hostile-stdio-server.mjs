// A tool server over its standard input and output that misbehaves: `node hostile-stdio-server.mjs KIND`.
import readline from 'node:readline'

const [, , kind] = process.argv
const tool = { name: 'act', inputSchema: { type: 'object' } }
const results = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
  'tools/list': { tools: [tool] },
}
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const acts = {
  sound: (id) => send({ id, result: { content: [] } }),
  garbage: () => process.stdout.write('Listening on stdio!\n'),
  'another id': () => send({ id: 'x', result: { content: [] } }),
  deep: (id) => process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${'['.repeat(500)}${']'.repeat(500)}}\n`),
  'a long line': () => writeForever(Buffer.alloc(65_536, 'x')),
  'many notifications': () => writeForever(`${'{"jsonrpc":"2.0","method":"notifications/x"}\n'.repeat(1_000)}`),
  'many requests': () => writeForever(`${'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'.repeat(1_000)}`),
  'errors without end': () => writeForever(Buffer.alloc(65_536, 'e\n'), process.stderr),
  'its end': () => process.exit(7),
  'a closed stream': () => process.stdout.end(),
  'much memory': () => fillMemory(),
  nothing: () => undefined,
}

process.on('SIGTERM', () => undefined)
if (kind === 'exit') process.exit(3)
if (kind === 'stay') process.stdin.on('end', () => setInterval(() => undefined, 1_000))
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined || kind === 'mute') return
  if (method === 'tools/call') return (acts[kind] ?? acts.sound)(id)
  const result = results[method]
  send(result ? { id, result } : { id, error: { code: -32601, message: 'no such method' } })
})

function writeForever(piece, stream = process.stdout) {
  const write = () => {
    while (stream.write(piece));
  }
  stream.on('drain', write)
  write()
}

function fillMemory() {
  const kept = []
  setInterval(() => kept.push(Buffer.alloc(16_777_216, 1)), 5)
}
