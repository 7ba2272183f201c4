// Writes docs/accreditation.md from the code itself: data flows, ports, algorithms, files, permissions, audit events.
import type * as z from 'zod'
import type { MessageKinds } from '../../../daemon/kernel/messaging/message-kind.ts'
import type { AddressedOperation } from '../../../daemon/kernel/operation/operation.ts'
import type { RoleOutline } from '../../../daemon/kernel/role/role.ts'
import type { SettingsBlock } from '../../../daemon/kernel/settings/settings.ts'
import type { AlgorithmUse } from '../accreditation/algorithms.ts'
import type { CreatedFile } from '../accreditation/created-files.ts'
import type { outboundClients } from '../accreditation/outbound-clients.ts'

export type AccreditationFacts = {
  readonly roles: readonly RoleOutline[]
  readonly blocks: readonly SettingsBlock[]
  readonly operations: readonly AddressedOperation[]
  readonly messages: MessageKinds
  readonly outbound: typeof outboundClients
  /** Purpose of each file, by its path. */
  readonly purposeOf: (file: string) => string
  readonly algorithms: readonly AlgorithmUse[]
  readonly files: readonly CreatedFile[]
  readonly changes: readonly string[]
  readonly actions: readonly string[]
}

const head = `# Accreditation pack

Generated from the code by \`npm run accept\`; do not edit. Facts for those who judge a site: each list is complete, since a test
derives it from the code and fails when a list lacks an entry. The threats are in [SECURITY.md](../SECURITY.md), the settings in
[settings.md](settings.md), the files between sites in [filedrop-format.md](filedrop-format.md), the requirements in [coverage.md](coverage.md).
`

export function formatAccreditation(facts: AccreditationFacts): string {
  return [
    head,
    formatPorts(facts.blocks),
    formatIncoming(facts),
    formatMessages(facts),
    formatOutgoing(facts),
    formatAlgorithms(facts.algorithms),
    formatFiles(facts.files),
    formatAudit(facts),
  ].join('\n')
}

function formatPorts(blocks: readonly SettingsBlock[]): string {
  const rows = blocks.flatMap(({ name, shape }) =>
    Object.keys(shape)
      .filter((field) => /^(\w+_)?listen$/.test(field) && field.replace(/listen$/, 'port') in shape)
      .map((field) => {
        const port = field.replace(/listen$/, 'port')
        return [`\`${name}.${port}\``, defaultOf(shape[field]), defaultOf(shape[port])]
      }),
  )
  return section(
    'Ports',
    'Every TCP listener, by the setting of its port, with default address and port. A role that does not run opens none, nor does `mtls` unless a channel uses it. In profiles C and D, and for role `proxy`, metrics are served at `port` plus 1,000 of the loopback interface (`metrics_listen`). Besides them each role has a local socket in `run/ROLE/`, mode 0600.',
    ['listener', 'address', 'port'],
    rows,
  )
}

function defaultOf(schema: z.ZodType | undefined): string {
  const parsed = schema?.safeParse(undefined)
  return parsed?.success ? `${parsed.data}` : ''
}

function formatIncoming({ operations }: AccreditationFacts): string {
  const permissions = Map.groupBy(operations, ({ role, operation }) => `${role} ${operation.allow}`)
  const rows = [...permissions].map(([key, group]) => {
    const [role = '', permission = ''] = key.split(' ')
    return [`\`${role}\``, `\`${permission}\``, group.map(({ address }) => `\`${withoutRole(address)}\``).join(', ')]
  })
  return section(
    'Requests that the site takes',
    'Operations by the permission that they need. `public` needs no token; `role` is for the roles of the site alone, `federation:deliver` for what an authenticated peer sends.',
    ['role', 'permission', 'operations'],
    rows,
  )
}

const withoutRole = (address: string) => address.replace(/^[a-z]+\./, '')

function formatMessages({ roles, messages }: AccreditationFacts): string {
  const rows = messages.names.map((kind) => {
    const taker = roles.find(({ takes }) => kind in takes)?.name ?? 'site'
    return [
      `\`${kind}\``,
      `\`${taker}\``,
      messages.isOrdered(kind) ? 'in order' : 'in any order',
      messages.sendable.includes(kind) ? 'roles and people' : 'the site itself',
    ]
  })
  return section(
    'Messages between sites',
    'Everything that crosses a file-drop channel is of one of these kinds, in both directions.',
    ['kind', 'taken by', 'applied', 'sent by'],
    rows,
  )
}

function formatOutgoing({ outbound, purposeOf }: AccreditationFacts): string {
  const named = {
    operator: 'addresses that the profile or the command line names',
    rule: 'what the address rule of its user permits, at each connection',
    site: 'sockets of the site',
  }
  const rows = Object.entries(outbound)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, [dials, credential]]) => [`\`${file}\``, purposeOf(file), named[dials], credential])
  return section(
    'Connections that the site opens',
    'Every file of the code that opens a connection. None is opened unless the profile, or an object that an administrator created, names its address.',
    ['file', 'purpose', 'dials', 'authenticates with'],
    rows,
  )
}

function formatAlgorithms(uses: readonly AlgorithmUse[]): string {
  const rows = [...Map.groupBy(uses, ({ algorithm }) => algorithm)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([algorithm, group]) => [algorithm, group.map(({ file }) => `\`${file}\``).join(', ')])
  return section(
    'Algorithms',
    'Every cryptographic algorithm that the code selects, and where. Random numbers come from the system through OpenSSL.',
    ['algorithm', 'files'],
    rows,
  )
}

function formatFiles(files: readonly CreatedFile[]): string {
  return section(
    'Files of a new site',
    'As `platform init` creates them, relative to the folder of the site, for its user alone. In a divided site each role owns its folders ([0017](decisions/0017-unix-user-per-role.md)).',
    ['file', 'mode'],
    files.map(({ name, mode }) => [`\`${name}\``, `\`${mode}\``]),
  )
}

function formatAudit({ changes, actions }: AccreditationFacts): string {
  const byRole = Map.groupBy(changes, (address) => address.split('.')[0] ?? '')
  const rows = [...byRole].map(([role, group]) => [
    `\`${role}\``,
    group.map((each) => `\`${withoutRole(each)}\``).join(', '),
  ])
  const operations = section(
    'Audit events',
    'The action of a record is the address of the operation that changed something or refused to. Refusals for lack of rights are recorded for each of these.',
    ['role', 'actions'],
    rows,
  )
  const others = actions.filter((action) => !changes.includes(action)).map((action) => `\`${action}\``)
  return `${operations}\nBesides them, of workers, of messages that arrive and of commands: ${others.join(', ')}.\n`
}

function section(
  title: string,
  text: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
  return [
    `## ${title}`,
    '',
    text,
    '',
    `| ${columns.join(' | ')} |`,
    `|${'---|'.repeat(columns.length)}`,
    ...lines,
    '',
  ].join('\n')
}
