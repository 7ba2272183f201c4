// Hosts before they are dialled: literal addresses, names with several addresses, names without any.
import { expect, test } from 'vitest'
import { addressRule, anyAddress } from './address-rule.ts'
import {
  AddressDeniedError,
  type AddressResolver,
  checkedLookup,
  checkHost,
  findLiteralDenial,
} from './checked-lookup.ts'

const strict = addressRule([])
const resolveTo =
  (...addresses: string[]): AddressResolver =>
  (_, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )

test('a literal address is held to the rule, in each family and with a zone', () => {
  for (const host of ['127.0.0.1', '::1', '::ffff:127.0.0.1', 'fe80::1%eth0'])
    expect(findLiteralDenial(host, strict)).toBeInstanceOf(AddressDeniedError)
  expect(findLiteralDenial('8.8.8.8', strict)).toBeUndefined()
  expect(findLiteralDenial('127.0.0.1', anyAddress)).toBeUndefined()
  // Left to the lookup.
  expect(findLiteralDenial('localhost', strict)).toBeUndefined()
})

test('a host is checked before a request is sent', async () => {
  expect(await checkHost('127.0.0.1', strict)).toBeInstanceOf(AddressDeniedError)
  expect(await checkHost('up.example', strict, resolveTo('8.8.8.8', '192.168.0.1'))).toMatchObject({
    message: '192.168.0.1 is private, and not in a trusted network',
  })
  expect(await checkHost('up.example', strict, resolveTo('8.8.8.8'))).toBeUndefined()
  expect(await checkHost('8.8.8.8', strict)).toBeUndefined()
})

test('localhost is resolved by the system resolver by default', async () => {
  expect(await checkHost('localhost', strict)).toBeInstanceOf(AddressDeniedError)
  expect(await checkHost('localhost', addressRule(['127.0.0.0/8', '::1']))).toBeUndefined()
})

test.each([
  ['an internal address among others', resolveTo('8.8.8.8', '::ffff:10.0.0.1'), AddressDeniedError],
  ['no address', resolveTo(), Error],
  ['an unknown name', ((_, done) => done(new Error('ENOTFOUND'), [])) as AddressResolver, Error],
])('a lookup fails for %s, whether one address is requested or all', async (_, resolve, type) => {
  for (const all of [true, false]) {
    const error = await new Promise((done) => checkedLookup(strict, resolve)('up.example', { all }, done))
    expect(error).toBeInstanceOf(type)
  }
})

test('a lookup gives the addresses that it checked', async () => {
  const lookup = checkedLookup(strict, resolveTo('8.8.8.8', '2606:4700:4700::1111'))
  const read = (all: boolean) =>
    new Promise((done) => lookup('up.example', { all }, (error, ...found) => done(error ?? found)))
  expect(await read(false)).toEqual(['8.8.8.8', 4])
  expect(await read(true)).toEqual([
    [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700:4700::1111', family: 6 },
    ],
  ])
})
