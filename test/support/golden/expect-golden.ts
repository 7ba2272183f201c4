// Compares a text with the one that was accepted; ACCEPT=1 accepts what it is now.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../..')

/** `file` is relative to the repository; the comparison shows the lines that differ. */
export function expectGolden(file: string, text: string): void {
  const place = path.join(root, file)
  if (process.env.ACCEPT === '1') {
    mkdirSync(path.dirname(place), { recursive: true })
    writeFileSync(place, text)
    return
  }
  expect(text.split('\n'), `${file} differs; npm run accept takes the change`).toEqual(readAccepted(place).split('\n'))
}

function readAccepted(place: string): string {
  try {
    return readFileSync(place, 'utf8')
  } catch {
    return ''
  }
}
