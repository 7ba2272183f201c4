// The least that acknowledges a POST durably: node:http and one SQLite insert with group commit. A benchmark's yardstick.
import { createServer, type ServerResponse } from 'node:http'
import Database from 'better-sqlite3'

/** This file, to be run as `node bare-insert.ts DATABASE`; prints the port that it listens on. */
export const bareInsert = import.meta.filename

if (process.argv[1] === bareInsert) serveInserts(process.argv[2] ?? '')

function serveInserts(file: string): void {
  const store = createGroupCommit(file)
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => store(JSON.stringify(JSON.parse(Buffer.concat(parts).toString('utf8'))), response))
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.stdout.write(`${typeof address === 'object' && address ? address.port : 0}\n`)
  })
}

/** Stores what waits at the next turn of the event loop in one transaction, then answers all of it. */
function createGroupCommit(file: string): (body: string, response: ServerResponse) => void {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec('CREATE TABLE contribution (id INTEGER PRIMARY KEY, body TEXT NOT NULL)')
  const insert = db.prepare('INSERT INTO contribution (body) VALUES (?)')
  const answer = JSON.stringify({ stored: true })
  let waiting: { body: string; response: ServerResponse }[] = []
  const commit = () => {
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
  return (body, response) => {
    if (waiting.push({ body, response }) === 1) setImmediate(commit)
  }
}
