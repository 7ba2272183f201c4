// Builds the SQLite addon for glibc 2.28 (RHEL 8) from the sources that better-sqlite3 ships; its own prebuilt addon requires 2.34.
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { releaseCache, runBeside, zig, zigToolchain } from './zig-toolchain.mjs'

const targets = { x64: 'x86_64-linux-gnu.2.28', arm64: 'aarch64-linux-gnu.2.28' }

/** As binding.gyp of better-sqlite3 has them. */
const defines = [
  'NDEBUG',
  'NAPI_VERSION=10',
  'NAPI_DISABLE_CPP_EXCEPTIONS',
  'NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS',
  'BUILDING_NODE_EXTENSION',
]
const cFlags = ['-std=c99', '-w']
const cxxFlags = ['-std=c++20', '-fno-exceptions', '-fvisibility=hidden', '-fvisibility-inlines-hidden']
const linkFlags = ['-shared', '-s', '-Wl,-Bsymbolic']

/** The path of the addon; built once for its sources and flags, so that a later build needs neither compiler nor network. */
export async function sqliteAddon({ root, arch }) {
  const sources = path.join(root, 'node_modules/better-sqlite3')
  const headers = ['node_modules/node-addon-api', `node_modules/node-linux-${process.arch}/include/node`]
  const key = digestInputs([sources, ...headers.map((folder) => path.join(root, folder))], arch)
  const file = path.join(releaseCache(), `better_sqlite3-${arch}-${key}.node`)
  if (fs.existsSync(file)) return file
  const work = fs.mkdtempSync(`${file}.`)
  try {
    const addon = await compile({ root, sources, headers, work, arch })
    fs.renameSync(addon, file)
  } finally {
    fs.rmSync(work, { recursive: true, force: true })
  }
  return file
}

async function compile({ root, sources, headers, work, arch }) {
  const program = path.join(zigToolchain(), 'ziglang/zig')
  const env = {
    PATH: process.env.PATH,
    ZIG_GLOBAL_CACHE_DIR: path.join(releaseCache(), 'zig'),
    ZIG_LOCAL_CACHE_DIR: work,
  }
  // Relative to the sources, and without the path of this checkout.
  const common = [
    '-target',
    targets[arch],
    '-O3',
    '-fPIC',
    `-ffile-prefix-map=${root}=.`,
    `-ffile-prefix-map=${work}=.`,
  ]
  const zigRun = (...args) => runBeside(program, args, { cwd: sources, env })
  const [sqlite, binding, addon] = ['sqlite3.o', 'binding.o', 'better_sqlite3.node'].map((name) =>
    path.join(work, name),
  )
  const include = headers.flatMap((folder) => ['-I', path.join(root, folder)])
  const flags = [...readSqliteDefines(sources), ...defines].map((each) => `-D${each}`)
  await Promise.all([
    zigRun('cc', ...common, ...cFlags, ...flags, '-c', 'deps/sqlite3/sqlite3.c', '-o', sqlite),
    zigRun(
      ...['c++', ...common, ...cxxFlags, ...flags, '-I', 'deps/sqlite3', ...include],
      ...['-c', 'src/better_sqlite3.cpp', '-o', binding],
    ),
  ])
  await zigRun('c++', '-target', targets[arch], ...linkFlags, '-o', addon, binding, sqlite)
  return addon
}

/** The options of SQLite that better-sqlite3 is tested with. */
function readSqliteDefines(sources) {
  const text = fs.readFileSync(path.join(sources, 'deps/defines.gypi'), 'utf8')
  const found = [...text.matchAll(/'((?:HAVE|SQLITE)_[A-Z0-9_]+(?:=[\w-]+)?)'/g)].map(([, define]) => define)
  if (!found.includes('SQLITE_THREADSAFE=2')) throw new Error('deps/defines.gypi of better-sqlite3 has another form')
  return found
}

function digestInputs(folders, arch) {
  const hash = createHash('sha256').update(
    [targets[arch], zig.version, ...defines, ...cFlags, ...cxxFlags, ...linkFlags].join(' '),
  )
  for (const folder of folders) {
    const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    const paths = files
      .filter((each) => /\.(c|cpp|h|hpp|gypi)$/.test(each.name))
      .map((each) => path.join(each.parentPath, each.name))
    for (const file of paths.sort()) hash.update(path.relative(folder, file)).update(fs.readFileSync(file))
  }
  return hash.digest('hex').slice(0, 32)
}
