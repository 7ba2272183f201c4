// Lists the version of the documents of each collection, with a digest of their schema: a change of one needs a change of the other.
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Role } from '../../../daemon/kernel/role/role.ts'
import { versionOf } from '../../../daemon/kernel/store/schema-version.ts'

export function formatSchemaVersions(roles: readonly Role[]): string {
  const lines = roles.flatMap(({ name: role, collections }) =>
    collections.map((each) => {
      const shape = z.toJSONSchema(each.schema, { unrepresentable: 'any', io: 'output' })
      const digest = createHash('sha256').update(JSON.stringify(shape)).digest('hex').slice(0, 16)
      return `${role} ${each.name} ${versionOf(each)} ${digest}`
    }),
  )
  return `${lines.join('\n')}\n`
}

/**
 * Collections whose schema changed although their version did not: an earlier release may be unable to read what this one
 * writes, or this one what an earlier release wrote.
 */
export function findUnversionedChanges(before: string, after: string): string[] {
  const parse = (text: string) =>
    new Map(
      text
        .trimEnd()
        .split('\n')
        .map((line) => {
          const [role, name, version, digest] = line.split(' ')
          return [`${role} ${name}`, { version, digest }] as const
        }),
    )
  const released = parse(before)
  return [...parse(after)].flatMap(([name, { version, digest }]) => {
    const known = released.get(name)
    return known && known.digest !== digest && known.version === version ? [name] : []
  })
}
