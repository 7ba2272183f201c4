// Every code is in use: a code that no check reports any more is removed, and the change log names it.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { doctorCodes } from './doctor-codes.ts'

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !/(doctor-codes|\.test)/.test(name),
)
const sources = files.map((name) => readFileSync(path.join(import.meta.dirname, name), 'utf8')).join('\n')
/** Codes of the networks are made from the name of the network. */
const written = (code: string) => [code, code.replace(/^(amqp|coalition)\./, 'name}.')]

test('every code is reported by a check', () => {
  expect(Object.keys(doctorCodes).filter((code) => !written(code).some((text) => sources.includes(text)))).toEqual([])
})

test('codes are a check and a name in lower case', () => {
  expect(Object.keys(doctorCodes).filter((code) => !/^[a-z0-9]+\.[a-z_]+$/.test(code))).toEqual([])
})
