// The certificate library wants a polyfill of Reflect and brings none: after an update of it, ours must still be enough.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { expect, test } from 'vitest'
import '../../adapters/keys/x509/reflect-metadata.ts'

const library = createRequire(import.meta.resolve('@peculiar/x509'))

test('Reflect has every method that the library and its container use', () => {
  const container = path.dirname(library.resolve('tsyringe/package.json'))
  const files = readdirSync(container, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.startsWith('dist/') && name.endsWith('.js'))
    .map((name) => path.join(container, name))
  const sources = [library.resolve('@peculiar/x509'), ...files].map((file) => readFileSync(file, 'utf8'))
  const operators = new Set(
    sources.flatMap((text) => [...text.matchAll(/\bReflect\.(\w+)/g)].map(([, name]) => name ?? '')),
  )
  expect(operators).toContain('getMetadata')
  expect([...operators].filter((name) => !(name in Reflect))).toEqual([])
})
