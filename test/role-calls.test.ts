// Each role may request exactly the operations that its code requests: the table is compared with the code.
import { expect, test } from 'vitest'
import { everyOperation, everyRole } from '../daemon/every-role.ts'
import { isDelegable } from '../daemon/kernel/identity/identity.ts'
import { backupContract } from '../daemon/kernel/role/built-in-operations.ts'
import { roleCalls } from '../daemon/role-calls.ts'
import { createGrant, issueDelegatedToken, resolvePrincipal } from '../daemon/shared/delegation/delegation.ts'
import { getVerificationLists } from '../daemon/shared/verification-lists/verification-lists.ts'
import { listRepositoryFiles, readSource, type SourceFile } from './support/repository/source-tree.ts'

const sources = listRepositoryFiles()
  .filter((file) => /^daemon\/.*(?<!\.test)\.ts$/.test(file))
  .map(readSource)
const shared = sources.filter(({ path }) => path.startsWith('daemon/shared/'))

/** A name that requests an operation wherever it is used: a function of daemon/shared. */
type Requester = { readonly name: string; readonly file: string; readonly address: string }

/** Each contract with its address. */
const contracts = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/const (\w+) = operationContract\(\{\s*address: '([a-z.-]+)'/g)].map(
    ([, name = '', address = '']) => ({
      ...{ name, address },
      file: path,
    }),
  ),
)

/** The text of each top-level declaration of a file. */
function listDeclarations({ text, declarations }: SourceFile) {
  const lines = text.split('\n')
  return declarations.map(({ name, line }, index) => ({
    name,
    text: lines.slice(line - 1, (declarations[index + 1]?.line ?? lines.length + 1) - 1).join('\n'),
  }))
}

const requests = (text: string, name: string) => new RegExp(`\\brequest\\(\\s*${name}\\b`).test(text)

const declaredShared = shared.flatMap((file) => listDeclarations(file).map((declaration) => ({ ...declaration, file })))

/** Functions of daemon/shared that request an operation themselves, or through another such function. */
function findRequesters(known: readonly Requester[]): readonly Requester[] {
  const found = declaredShared.flatMap(({ name, text, file }) => {
    const direct = contracts.filter((contract) => requests(text, contract.name))
    const through = known.filter((each) => each.name !== name && usesRequester(file, text, each))
    return [...direct, ...through].map(({ address }) => ({ name, file: file.path, address }))
  })
  const all = found.filter((each, index) => found.findIndex((other) => isSame(each, other)) === index)
  return all.length === known.length ? all : findRequesters(all)
}

function isSame(a: Requester, b: Requester): boolean {
  return a.name === b.name && a.file === b.file && a.address === b.address
}

function usesRequester({ path, imports }: SourceFile, text: string, { name, file }: Requester): boolean {
  return (path === file || imports.includes(file)) && new RegExp(`\\b${name}\\b`).test(text)
}

const requesters = findRequesters([])

/** Addresses that the files of a role request, by a contract or by a function of daemon/shared. */
function findRequested(files: readonly SourceFile[]): string[] {
  const direct = contracts.filter(({ name }) => files.some(({ text }) => requests(text, name)))
  const through = requesters.filter((each) => files.some((file) => usesRequester(file, file.text, each)))
  return [...direct, ...through].map(({ address }) => address)
}

/** What boot requests in the name of a role. */
const byBoot: Readonly<Record<string, (role: string) => string[]>> = {
  'daemon/boot/housekeeping.ts': () => ['site.checkpoint.create'],
  'daemon/boot/identity/verification-lists.ts': (role) => (role === 'site' ? [] : [getVerificationLists.address]),
  'daemon/boot/backup/scheduled-backups.ts': (role) =>
    role === 'site' ? everyRole.map(({ name }) => backupContract(name).address) : [],
  // The requests that a call makes in the name of a principal, for the roles that do so.
  'daemon/boot/site-delegation.ts': (role) =>
    sources.some(({ path, text }) => path.startsWith(`daemon/roles/${role}/`) && /\bcall\.delegation\(/.test(text))
      ? [createGrant, issueDelegatedToken, resolvePrincipal].map(({ address }) => address)
      : [],
  // The operations that take messages of peers.
  'daemon/boot/links/inbound-delivery.ts': (role) => {
    const taking = everyRole.flatMap(({ messages }) => Object.values(messages))
    return role === 'site'
      ? everyOperation.filter(({ operation }) => taking.includes(operation)).map(({ address }) => address)
      : []
  },
}

test('no other file outside the roles requests an operation', () => {
  const requesting = sources.filter(({ path, text }) => {
    const isOfRole = /^daemon\/(roles|runtime)\/[a-z]+\/|^daemon\/(shared|kernel)\//.test(path)
    return !isOfRole && (/\b(clients|roles)\.request\(/.test(text) || /\bcallRole\(/.test(text))
  })
  expect(requesting.map(({ path }) => path).sort()).toEqual(Object.keys(byBoot).sort())
})

test('every contract is requested by a role', () => {
  const requested = [...roleCalls.values()].flatMap((addresses) => [...addresses])
  expect(contracts.map(({ address }) => address).filter((address) => !requested.includes(address))).toEqual([])
})

test.each(everyRole.map(({ name }) => name))('the operations of %s', (role) => {
  const files = sources.filter(({ path }) => new RegExp(`^daemon/(roles|runtime)/${role}/`).test(path))
  const expected = [...findRequested(files), ...Object.values(byBoot).flatMap((list) => list(role))]
  expect([...(roleCalls.get(role) ?? [])].sort(), 'adapt daemon/role-calls.ts').toEqual([...new Set(expected)].sort())
})

test('no permission of the site role is used in the name of another, but reading what every role shows', () => {
  const ofSite = everyOperation.filter(({ role }) => role === 'site').map(({ operation }) => operation.allow)
  const shown = ['public', 'health:read', 'metrics:read', 'openapi:read', 'audit:read']
  expect([...new Set(ofSite)].filter((allow) => isDelegable(allow)).sort()).toEqual(shown.sort())
})

test('each address is an operation', () => {
  const known = new Set(everyOperation.map(({ address }) => address))
  const unknown = [...roleCalls.values()].flatMap((addresses) =>
    [...addresses].filter((address) => !known.has(address)),
  )
  expect(unknown).toEqual([])
})
