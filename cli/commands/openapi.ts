// Prints a role's OpenAPI document from its declared operations; needs no running service.

import { product } from '../../adapters/platform/product/product.ts'
import { roles } from '../../daemon/roles.ts'
import { CommandFailure, command } from '../program/command.ts'
import { flag, required, text } from '../program/params.ts'
import { keepLayout } from '../terminal/output.ts'

export const definition = command({
  words: 'openapi',
  summary: 'Print the OpenAPI 3.1 document of a role',
  positionals: { role: required(text('ROLE', 'Role, such as consensus')) },
  options: { json: flag('Print JSON on one line') },
  example: 'platform openapi consensus > consensus.openapi.json',
  async run({ role: name, json }, terminal) {
    const outline = roles.find((candidate) => candidate.name === name)
    const roleNames = roles.map((candidate) => candidate.name).join(', ')
    if (!outline) throw new CommandFailure(2, `the role "${name}" does not exist; the roles are ${roleNames}`)
    const [role, { buildOpenapi }, { operationsOf }] = await Promise.all([
      outline.load(),
      import('../../daemon/kernel/api/openapi.ts'),
      import('../../daemon/kernel/role/built-in-operations.ts'),
    ])
    const document = buildOpenapi(`platform ${role.name}`, product.version, role.purpose, operationsOf(role))
    terminal.print(keepLayout(JSON.stringify(document, undefined, json ? undefined : 2)))
    return 0
  },
})
