// A profile accepts broker URLs with TLS or on this machine, and none with credentials.
import { expect, test } from 'vitest'
import { parseWithSchema } from '../error/parsing.ts'
import { brokerUrl } from './broker.ts'

const faultOf = (url: string) => {
  const parsed = parseWithSchema(brokerUrl, url)
  return parsed.success ? undefined : parsed.errors[0]?.message
}

test.each([
  'amqps://broker.example:5671/sites',
  'amqps://192.0.2.7',
  'amqp://127.0.0.1:5672',
  'amqp://127.8.9.1',
  'amqp://localhost:5672/sites',
  'amqp://[::1]:5672',
])('%s is accepted', (url) => {
  expect(faultOf(url)).toBeUndefined()
})

test.each([
  ['amqp://broker.example:5672', /amqps:/],
  ['amqp://127.0.0.1.example', /amqps:/],
  ['amqp://0127.0.0.1', /amqps:/],
  ['amqp://127.999.0.1', /amqps:/],
  ['amqp://127.1', /amqps:/],
  ['amqp://[::2]', /amqps:/],
  ['amqp://10.127.0.1', /amqps:/],
  ['amqps://alpha:secret@broker.example', /a user or password/],
  ['amqps://alpha@broker.example', /a user or password/],
  ['https://broker.example', /URL/],
  ['broker.example:5672', /URL/],
])('%s is refused', (url, says) => {
  const fault = faultOf(url)
  expect(fault).toMatch(says)
  expect(fault).not.toContain('secret')
})
