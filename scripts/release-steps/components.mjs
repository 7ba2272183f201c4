// Lists what an executable consists of: the packages that esbuild really bundled, Node with its libraries, and the parts of the SQLite addon.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { zig } from './zig-toolchain.mjs'

/** Libraries of Node that are linked into it, as `process.versions` names them, with the licences that its LICENSE file quotes. */
const nodeLibraries = {
  acorn: 'MIT',
  ada: 'Apache-2.0 OR MIT',
  amaro: 'MIT',
  ares: 'MIT',
  brotli: 'MIT',
  icu: 'Unicode-3.0',
  llhttp: 'MIT',
  merve: 'MIT',
  nghttp2: 'MIT',
  openssl: 'Apache-2.0',
  simdjson: 'Apache-2.0 OR MIT',
  simdutf: 'Apache-2.0 OR MIT',
  sqlite: 'blessing',
  undici: 'MIT',
  uv: 'MIT',
  uvwasi: 'MIT',
  v8: 'BSD-3-Clause',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause',
}

/**
 * Components by name and version: `name`, `version`, `licence` (SPDX expression), `purl`, `integrity` (of package-lock.json, if it is
 * a package), `texts` (files with its licence) and `author`. `node`: the executable whose libraries are listed.
 */
export function listComponents({ root, arch, inputs, toolchain }) {
  const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages
  const folders = new Set(['node_modules/better-sqlite3', 'node_modules/node-addon-api', 'node_modules/@yao-pkg/pkg'])
  for (const input of inputs) {
    const [folder] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input) ?? []
    if (folder) folders.add(folder)
  }
  const packages = [...folders].map((folder) => describePackage(root, folder, lock[folder]))
  // One version of a package may lie in several folders.
  const distinct = new Map(packages.map((each) => [each.purl, each]))
  const components = [...distinct.values(), ...nodeComponents(root, arch, lock), ...addonComponents(root, toolchain)]
  return components.toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
}

function describePackage(root, folder, locked) {
  const at = path.join(root, folder)
  const { name, version, license, author } = JSON.parse(fs.readFileSync(path.join(at, 'package.json'), 'utf8'))
  if (!locked || locked.version !== version) throw new Error(`${folder} is not the package of package-lock.json`)
  if (typeof license !== 'string') throw new Error(`${folder} names no licence`)
  const texts = fs.readdirSync(at).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  return {
    ...{ name, version, licence: license, purl: `pkg:npm/${name.replace('@', '%40')}@${version}` },
    ...{ integrity: locked.integrity, texts: texts.map((file) => path.join(at, file)) },
    author: typeof author === 'string' ? author : author?.name,
  }
}

/** By the versions that the Node of this machine reports: that of another architecture is built from the same sources. */
function nodeComponents(root, arch, lock) {
  const { version, integrity } = lock[`node_modules/node-linux-${arch}`]
  const own = path.join(root, `node_modules/node-linux-${process.arch}`)
  const json = execFileSync(path.join(own, 'bin/node'), ['-p', 'JSON.stringify(process.versions)'], {
    encoding: 'utf8',
  })
  const versions = JSON.parse(json)
  if (versions.node !== version) throw new Error(`Node ${versions.node} is not ${version} of package-lock.json`)
  const texts = [path.join(own, 'LICENSE')]
  const node = {
    name: 'node',
    version,
    licence: 'MIT',
    purl: `pkg:npm/node-linux-${arch}@${version}`,
    integrity,
    texts,
  }
  const libraries = Object.entries(nodeLibraries).map(([name, licence]) => {
    if (!versions[name]) throw new Error(`Node no longer names the version of ${name}; adapt components.mjs`)
    return {
      name: `node-${name}`,
      version: versions[name],
      licence,
      purl: `pkg:generic/${name}@${versions[name]}?in=node`,
      texts,
    }
  })
  return [node, ...libraries]
}

function addonComponents(root, toolchain) {
  const header = fs.readFileSync(path.join(root, 'node_modules/better-sqlite3/deps/sqlite3/sqlite3.h'), 'utf8')
  const [, sqlite] = /#define SQLITE_VERSION\s+"([\d.]+)"/.exec(header) ?? []
  const config = fs.readFileSync(path.join(toolchain, 'ziglang/lib/libcxx/include/__config'), 'utf8')
  const [, llvm] = /define _LIBCPP_VERSION (\d{6})/.exec(config) ?? []
  if (!sqlite || !llvm) throw new Error('the version of SQLite or of libc++ was not found; adapt components.mjs')
  const libcxx = [0, 2, 4].map((at) => Number(llvm.slice(at, at + 2))).join('.')
  const licence = 'Apache-2.0 WITH LLVM-exception'
  const library = (name) => ({
    ...{ name, version: libcxx, licence, purl: `pkg:generic/${name}@${libcxx}` },
    texts: [path.join(toolchain, `ziglang/lib/${name}/LICENSE.TXT`)],
  })
  return [
    { name: 'sqlite', version: sqlite, licence: 'blessing', purl: `pkg:generic/sqlite@${sqlite}`, texts: [] },
    ...['libcxx', 'libcxxabi'].map(library),
    {
      ...{ name: 'ziglang', version: zig.version, licence: 'MIT', purl: `pkg:pypi/ziglang@${zig.version}` },
      texts: [path.join(toolchain, 'ziglang/LICENSE')].filter((file) => fs.existsSync(file)),
    },
  ]
}
