// The least that acknowledges a POST durably: node:http and one SQLite insert with group commit. A benchmark's yardstick.
import { createServer, type ServerResponse } from 'node:http'
import Database from 'better-sqlite3'

const db = new Database(process.argv[2] ?? '')
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec('CREATE TABLE contribution (id INTEGER PRIMARY KEY, body TEXT NOT NULL)')
const insert = db.prepare('INSERT INTO contribution (body) VALUES (?)')
const answer = JSON.stringify({ stored: true })

let waiting: { body: string; response: ServerResponse }[] = []

function commit(): void {
  const batch = waiting
  waiting = []
  db.exec('BEGIN IMMEDIATE')
  for (const { body } of batch) insert.run(body)
  db.exec('COMMIT')
  for (const { response } of batch) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    response.end(answer)
  }
}

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const body = JSON.stringify(JSON.parse(Buffer.concat(parts).toString('utf8')))
    if (waiting.push({ body, response }) === 1) setImmediate(commit)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${typeof address === 'object' && address ? address.port : 0}\n`)
})
