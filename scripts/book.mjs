// Writes the book of all documents: scripts/book [--out FILE]
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { renderBook } from './book-steps/book.mjs'

const root = path.resolve(import.meta.dirname, '..')
const { values } = parseArgs({ options: { out: { type: 'string', default: path.join(root, 'dist/book.html') } } })
fs.mkdirSync(path.dirname(path.resolve(values.out)), { recursive: true })
fs.writeFileSync(values.out, renderBook(root))
console.error(`${values.out} ${(fs.statSync(values.out).size / 1e6).toFixed(1)} MB`)
