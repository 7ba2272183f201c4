// An operation's address is its file: `role.noun.verb` is declared in `daemon/roles/<role>/<noun>/<verb>.ts`.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { everyRole } from '../daemon/every-role.ts'
import { addressOperations } from '../daemon/kernel/role/role.ts'
import { repositoryRoot } from './support/repository/source-tree.ts'

/** Those that every role has (`role.service.health` and the like) are declared together in the kernel: they are of no role. */
const declared = everyRole.flatMap((role) => addressOperations(role))

/** The edge has none of its own. */
const operating = everyRole.filter((role) => addressOperations(role).length > 0).map(({ name }) => name)

describe.each(operating)('%s', (role) => {
  const operations = declared.filter((each) => each.role === role)

  test.each(operations.map(({ address, operation }) => ({ address, operation })))('$address', async (entry) => {
    const file = path.join(repositoryRoot, 'daemon/roles', `${entry.address.replaceAll('.', '/')}.ts`)
    expect(
      existsSync(file),
      `${path.relative(repositoryRoot, file)} does not exist (an operation of two words is quoted in role.ts: 'by-session')`,
    ).toBe(true)
    const exported: Record<string, unknown> = await import(file)
    expect(Object.values(exported)).toContain(entry.operation)
  })
})
