// The line that a message lands as keeps what its body says, or there is a reason.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MessageProperty } from '../../../shared/message-source/message-source.ts'
import { type BodyForm, MessageWriter } from './message-text.ts'

function write(body: string | Uint8Array, form: BodyForm = 'json', properties: readonly MessageProperty[] = []) {
  const message = { body: Buffer.from(body), properties: { type: 'a"b' }, isRedelivered: false }
  return new MessageWriter(form, properties).write(message)
}

test('each object lands as one line with the same value, whatever its layout, beside properties', () => {
  const layouts = fc.constantFrom(undefined, '\r\n', '\t', 4)
  const names = fc.string().filter((name) => name !== '__proto__')
  const values = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true }),
    fc.constant(null),
    fc.array(fc.string()),
  )
  fc.assert(
    fc.property(fc.dictionary(names, values), layouts, fc.boolean(), (object, layout, hasProperty) => {
      const written = write(` ${JSON.stringify(object, undefined, layout)}\n`, 'json', hasProperty ? ['type'] : [])
      if ('reason' in written) return expect(written.reason).toMatch(/half a surrogate/)
      expect(written.line).not.toMatch(/[\r\n]/)
      const wanted = JSON.parse(JSON.stringify(object))
      expect(JSON.parse(written.line)).toEqual(hasProperty ? { ...wanted, _type: 'a"b' } : wanted)
    }),
  )
})

test.each([
  ['{"a": 1', 'the body is not JSON'],
  ['{"a": "1\n2"}', 'the body is not JSON'],
  ['', 'the body is not JSON'],
  ['null', 'the body is not a JSON object'],
  ['\uFEFF{}', 'the body is not JSON'],
  ['{"a": 1, "a": 2}', 'the name "a" is repeated'],
  [`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`, 'the body is nested too deeply'],
  [new Uint8Array([0x7b, 0xff, 0x7d]), 'the body is not UTF-8'],
])('%j has no line: %s', (body, reason) => {
  expect(write(body)).toEqual({ reason })
})

test('text and bytes of any kind are a value of one column', () => {
  expect(write('a\n"b', 'text')).toEqual({ line: '{"body":"a\\n\\"b"}' })
  expect(write(new Uint8Array([0xff]), 'base64', ['type', 'app_id'])).toEqual({
    line: '{"_type":"a\\"b","_app_id":null,"body":"/w=="}',
  })
  expect(write(new Uint8Array([0xff]), 'text')).toEqual({ reason: 'the body is not UTF-8' })
})

test('a message without a body is a row of its properties, where it has one that is a column', () => {
  const message = { body: Buffer.alloc(0), isTombstone: true, properties: { key: 'k' }, isRedelivered: false }
  const writeIn = (form: BodyForm, ...properties: MessageProperty[]) =>
    new MessageWriter(form, properties).write(message)
  expect(writeIn('json', 'key', 'type')).toEqual({ line: '{"_key":"k","_type":null}' })
  expect(writeIn('text', 'key')).toEqual({ line: '{"_key":"k","body":null}' })
  const reason = 'the message has no body, and no property that is a column'
  for (const form of ['json', 'text', 'base64'] as const) {
    expect(writeIn(form)).toEqual({ reason })
    expect(writeIn(form, 'type')).toEqual({ reason })
  }
})

test('a property that is too long for a value leaves the whole message out', () => {
  const properties = { key: 'x'.repeat(1_048_577) }
  const message = { body: Buffer.from('{"a":1}'), properties, isRedelivered: false }
  const reason = '"_key" has more than 1048576 bytes'
  for (const form of ['json', 'text'] as const)
    expect(new MessageWriter(form, ['key']).write(message)).toEqual({ reason })
  expect(new MessageWriter('json', []).write(message)).toEqual({ line: '{"a":1}' })
})

test('messages with ever new fields do not fill a dataset with columns', () => {
  const writer = new MessageWriter('json', [])
  const bodyOf = (at: number) => Buffer.from(JSON.stringify({ [`a${at}`]: 1, [`b${at}`]: 1 }))
  const written = Array.from({ length: 2_050 }, (_, at) =>
    writer.write({ body: bodyOf(at), properties: {}, isRedelivered: false }),
  )
  expect(written.findIndex((each) => 'reason' in each)).toBe(2_048)
  expect(writer.write({ body: bodyOf(7), properties: {}, isRedelivered: false })).toEqual({ line: '{"a7":1,"b7":1}' })
})
