// The import table of ARCHITECTURE.md as data: what each part of the repository may import.

/** Imports allowed to a part: patterns for paths from the root, packages, and `node:` modules. */
export type RepositoryPart = { readonly name: string; readonly files: RegExp; readonly allows: readonly RegExp[] }

const kernel = /^daemon\/kernel\//
const shared = /^daemon\/shared\//
const adapters = /^adapters\//
/** What several adapters, boot and the command line share: address rule, frames of AMQP, scanner, durable, watched and secret files, HTTP client and server, version. */
const platform =
  /^adapters\/platform\/(address-rule|amqp-frames|body-scanner|durable-file|folder-watch|http-client|http-server|missing-path|product|secret-file|time-limit)\//
/** The list of all roles, the operations that they request of one another, and what they declare. */
const roles = /^daemon\/(roles|role-calls|message-kinds|document-types)\.ts$/
/** Loads every role: for tests. */
const everyRole = /^daemon\/every-role\.ts$/
/** The entry of what needs no daemon. */
const offline = /^daemon\/offline\/offline\.ts$/
const zod = /^zod$/
/** What subscribers of guidance import too: its form, its order, and the cache of a subscriber. */
const guidancePackage = /^packages\/guidance-client\/src\/(guidance-block|guidance-cache|ranking)\.ts$/
const node = /^node:/
const manifest = /^package\.json$/

/** The first part whose pattern fits is the one that counts. `$1` stands for what the file's own pattern captured. */
export const parts: readonly RepositoryPart[] = [
  { name: 'daemon/kernel', files: kernel, allows: [kernel, zod, /^node:crypto$/] },
  {
    name: 'the package of guidance',
    files: /^packages\/guidance-client\//,
    allows: [/^packages\/guidance-client\/src\//],
  },
  { name: 'daemon/shared', files: shared, allows: [kernel, shared, zod] },
  {
    name: 'rules of a role',
    files: /^daemon\/roles\/([^/]+)\/(?:.+\/)?rules(\.test)?\.ts$/,
    // `combine/` holds the combiners, the named files what they are fed with, or states: rules by other names.
    allows: [
      ...[kernel, shared, zod],
      guidancePackage,
      /^daemon\/roles\/$1\/((.+\/)?(content|model|rules|visibility|contribution-index|recent-contribution)|combine\/.+)\.ts$/,
    ],
  },
  {
    name: 'a role',
    files: /^daemon\/roles\/([^/]+)\//,
    allows: [kernel, shared, zod, guidancePackage, /^daemon\/roles\/$1\//],
  },
  { name: 'daemon/roles.ts', files: roles, allows: [kernel, roles, /^daemon\/roles\/[^/]+\/outline\.ts$/] },
  { name: 'daemon/every-role.ts', files: everyRole, allows: [kernel, roles] },
  {
    name: 'daemon/offline',
    files: /^daemon\/offline\//,
    allows: [kernel, shared, roles, /^daemon\/(roles|runtime|boot|offline)\//, adapters, zod, node],
  },
  {
    name: 'daemon/runtime/<role>',
    files: /^daemon\/runtime\/([^/]+)\//,
    allows: [kernel, shared, roles, /^daemon\/(roles|runtime)\/$1\//, /^daemon\/boot\//, adapters, zod, node],
  },
  {
    name: 'daemon/boot',
    files: /^daemon\/boot\//,
    allows: [kernel, shared, roles, /^daemon\/(roles|boot)\//, /^daemon\/runtime\/wires\.ts$/, adapters, zod, node],
  },
  { name: 'adapters/platform/product', files: /^adapters\/platform\/product\//, allows: [manifest] },
  {
    name: 'adapters/platform/data-file',
    files: /^adapters\/platform\/data-file\//,
    allows: [kernel, platform, node, zod, /^adapters\/(format|platform\/data-file)\//],
  },
  {
    // A format is made of others: a workbook of XML, records of XML of lines of JSON.
    name: 'adapters/format',
    files: /^adapters\/format\//,
    allows: [kernel, shared, platform, node, zod, /^adapters\/format\//],
  },
  {
    // Stores of objects share their requests over HTTP, and answer in XML.
    name: 'adapters/ingest-source',
    files: /^adapters\/(ingest-source\/[^/]+)\//,
    allows: [kernel, shared, platform, node, zod, /^adapters\/($1|ingest-source\/http|format\/xml)\//],
  },
  {
    name: 'an adapter',
    files: /^adapters\/([^/]+\/[^/]+)\//,
    allows: [kernel, shared, platform, node, zod, /^adapters\/$1\//],
  },
  {
    name: 'cli commands that start a daemon',
    files: /^cli\/commands\/(serve|demo)/,
    allows: [kernel, roles, /^cli\//, zod, node, /^daemon\/boot\//, offline],
  },
  {
    name: 'cli/admin',
    files: /^cli\/admin\//,
    allows: [kernel, /^cli\/(client|admin)\//, zod, node],
  },
  {
    name: 'cli',
    files: /^cli\//,
    allows: [kernel, platform, roles, /^cli\//, zod, node, offline],
  },
]

/** Tests beside the source may know this in addition to what their part may. */
export const testImports: readonly RegExp[] = [/^vitest$/, /^fast-check$/, node, /^test\/support\//]

/** The one folder that owns each library: everybody else asks for what it does by a contract of the kernel. */
export const owners: Readonly<Record<string, RegExp>> = {
  '@kubernetes/client-node': /^adapters\/ingress\/kubernetes\//,
  '@modelcontextprotocol/client': /^adapters\/tools\/mcp\//,
  '@modelcontextprotocol/server': /^adapters\/serve\/mcp\//,
  '@noble/curves': /^adapters\/blinding\/curve25519\//,
  '@opensearch-project/opensearch': /^adapters\/store\/opensearch\//,
  '@opentelemetry/api': /^adapters\/host\/traces\//,
  '@opentelemetry/exporter-trace-otlp-http': /^adapters\/host\/traces\//,
  '@opentelemetry/sdk-trace': /^adapters\/host\/traces\//,
  '@peculiar/x509': /^adapters\/keys\/x509\//,
  '@redis/client': /^adapters\/(keyvalue|ingest-source)\/redis\//,
  amqplib: /^adapters\/(transport\/amqp|ingest-source\/rabbitmq)\//,
  aws4: /^adapters\/ingest-source\/s3\//,
  'better-sqlite3': /^adapters\/store\/sqlite\//,
  chokidar: /^adapters\/platform\/folder-watch\//,
  commander: /^cli\//,
  croner: /^adapters\/host\/schedule\//,
  fastify: /^adapters\/serve\/http\//,
  hyparquet: /^adapters\/format\/parquet\//,
  'hyparquet/src/column.js': /^adapters\/format\/parquet\//,
  'hyparquet/src/convert.js': /^adapters\/format\/parquet\//,
  'hyparquet-compressors': /^adapters\/format\/parquet\//,
  'hyparquet/src/types.js': /^adapters\/format\/parquet\//,
  'hyparquet-writer/src/metadata.js': /^adapters\/format\/parquet\//,
  'hyparquet-writer/src/thrift.js': /^adapters\/format\/parquet\//,
  'hyparquet-writer': /^adapters\/format\/parquet\//,
  'any-ascii': /^daemon\/roles\/resolution\/engine\/text\//,
  'double-metaphone': /^daemon\/roles\/resolution\/engine\/text\//,
  ink: /^cli\/(admin|label)\//,
  // Reads and writes addresses, without I/O: docs/decisions/0048.
  'ipaddr.js': /^daemon\/kernel\/network\//,
  'isomorphic-git': /^adapters\/dag-repository\/local\//,
  jose: /^adapters\/keys\/jose\//,
  // Caches in memory, without I/O or clock: docs/decisions/0048.
  'lru-cache': /^(adapters|daemon\/roles\/proxy\/cache)\//,
  mongodb: /^adapters\/ingest-source\/mongo\//,
  'mongodb/lib/bson.js': /^adapters\/ingest-source\/mongo\//,
  'mongodb/lib/cmap/auth/mongo_credentials.js': /^adapters\/ingest-source\/mongo\//,
  'mongodb/lib/cmap/auth/scram.js': /^adapters\/ingest-source\/mongo\//,
  'mongodb/lib/cmap/connect.js': /^adapters\/ingest-source\/mongo\//,
  'mongodb/lib/utils.js': /^adapters\/ingest-source\/mongo\//,
  mysql2: /^adapters\/ingest-source\/mysql\//,
  oracledb: /^adapters\/ingest-source\/oracle\//,
  'oracledb/lib/thin/sqlnet/ntTcp.js': /^adapters\/ingest-source\/oracle\//,
  re2js: /^adapters\/pattern\/re2\//,
  'pdfjs-dist': /^adapters\/format\/pdf\//,
  pg: /^adapters\/ingest-source\/postgres\//,
  pino: /^adapters\/host\/log\//,
  'prom-client': /^adapters\/metrics\/prometheus\//,
  react: /^cli\/(admin|label)\//,
  saxes: /^adapters\/format\/xml\//,
  tedious: /^adapters\/ingest-source\/mssql\//,
  undici: /^adapters\/platform\/http-client\//,
  'undici/lib/api/api-request.js': /^adapters\/platform\/http-client\//,
  'undici/lib/dispatcher/agent.js': /^adapters\/platform\/http-client\//,
  yaml: /^adapters\/host\/yaml\//,
}

/** Why the file may not import this; undefined when it may. Files outside every part (tests, scripts) are free. */
export function findImportObjection(file: string, imported: string): string | undefined {
  const part = parts.find(({ files }) => files.test(file))
  if (!part) return undefined
  const owner = owners[imported]
  if (owner) return owner.test(file) ? undefined : `only ${describeFolder(owner)} imports ${imported}`
  const own = part.files.exec(file)?.[1] ?? ''
  const allows = part.allows.map((pattern) => new RegExp(pattern.source.replace('$1', own)))
  const extra = /\.test\.tsx?$/.test(file) ? testImports : []
  return [...allows, ...extra].some((pattern) => pattern.test(imported)) ? undefined : `${part.name} may not import it`
}

function describeFolder(pattern: RegExp): string {
  return pattern.source.replaceAll(/[\\^]/g, '')
}
