// Reads the repository as text and as imports, for tests that judge the code itself.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { parseAst } from 'vitest/node'

/** Absolute path of the repository. */
export const repositoryRoot = path.resolve(import.meta.dirname, '../../..')

type Node = { readonly type: string; readonly start: number; readonly [key: string]: unknown }

export type SourceFile = {
  /** Path from the root of the repository, with forward slashes. */
  readonly path: string
  readonly text: string
  /** The imports of the file, types included: a path from the root, a package's name, or `node:x`. */
  readonly imports: readonly string[]
  /** Those of them that are loaded with the file itself: no types, nothing that is imported when it is needed. */
  readonly loads: readonly string[]
  /** Dotted names that are called, constructed or read, such as `Date.now` or `process.env`, each with its line. */
  readonly names: readonly SourceName[]
  /** The top-level declarations of the file. */
  readonly declarations: readonly SourceDeclaration[]
  /** All names that the file declares: those of its declarations, locals, parameters, and members of classes and types. */
  readonly declaredNames: readonly SourceName[]
}

export type SourceName = { readonly name: string; readonly line: number }

export type SourceDeclaration = SourceName & { readonly isType: boolean }

const ignoredFolders = new Set(['.git', '.cache', 'node_modules', 'dist', 'coverage'])

/** Every file of the repository that is not installed or built; paths from the root, sorted. */
export function listRepositoryFiles(folder = repositoryRoot): string[] {
  return readdirSync(folder)
    .filter((name) => !ignoredFolders.has(name) && !name.endsWith('.log'))
    .map((name) => path.join(folder, name))
    .flatMap((file) =>
      statSync(file).isDirectory() ? listRepositoryFiles(file) : [path.relative(repositoryRoot, file)],
    )
    .sort()
}

/** Parses one file of TypeScript or JavaScript. */
export function readSource(file: string): SourceFile {
  const text = readFileSync(path.join(repositoryRoot, file), 'utf8')
  const found = {
    imports: [] as string[],
    loads: [] as string[],
    names: [] as SourceName[],
    declaredNames: [] as SourceName[],
  }
  const findLine = createLineFinder(text)
  const ast = parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }, file)
  visitNodes(ast as unknown as Node, (node) => {
    const imported = readImport(node)
    if (imported !== undefined) found.imports.push(resolveImport(file, imported))
    if (imported !== undefined && isLoaded(node)) found.loads.push(resolveImport(file, imported))
    const name = readUsedName(node)
    if (name !== undefined) found.names.push({ name, line: findLine(node.start) })
    for (const { name, start } of listDeclaredNames(node)) {
      found.declaredNames.push({ name: String(name), line: findLine(start) })
    }
  })
  const declarations = listTopLevel(ast as unknown as Node).map(({ name, isType, start }) => ({
    ...{ name, isType },
    line: findLine(start),
  }))
  return { path: file, text, ...found, declarations }
}

const typeDeclarations = new Set([
  'TSTypeAliasDeclaration',
  'TSInterfaceDeclaration',
  'ClassDeclaration',
  'TSEnumDeclaration',
])

function listTopLevel(program: Node): { name: string; isType: boolean; start: number }[] {
  return (program.body as Node[]).flatMap((statement) => {
    const node = isNode(statement.declaration) ? statement.declaration : statement
    const declared = node.type === 'VariableDeclaration' ? (node.declarations as Node[]) : [node]
    return declared.flatMap(({ id, start }) =>
      isNode(id) && id.type === 'Identifier'
        ? [{ name: String(id.name), isType: typeDeclarations.has(node.type), start }]
        : [],
    )
  })
}

const memberTypes = new Set([
  'PropertyDefinition',
  'MethodDefinition',
  'AccessorProperty',
  'TSPropertySignature',
  'TSMethodSignature',
])

/** The identifiers that one node declares itself; those of its children are listed for the children. */
function listDeclaredNames(node: Node): Node[] {
  const { type, id, key, param, params, computed } = node
  return [
    ...listBoundNames(id),
    ...(type === 'CatchClause' ? listBoundNames(param) : []),
    ...(Array.isArray(params) ? params.flatMap(listBoundNames) : []),
    ...(memberTypes.has(type) && !computed && isNode(key) && typeof key.name === 'string' ? [key] : []),
  ]
}

function listBoundNames(pattern: unknown): Node[] {
  if (!isNode(pattern)) return []
  switch (pattern.type) {
    case 'Identifier':
      return [pattern]
    case 'ObjectPattern':
      return (pattern.properties as Node[]).flatMap((each) => listBoundNames(each.value ?? each))
    case 'ArrayPattern':
      return (pattern.elements as unknown[]).flatMap(listBoundNames)
    case 'AssignmentPattern':
      return listBoundNames(pattern.left)
    case 'RestElement':
      return listBoundNames(pattern.argument)
    case 'TSParameterProperty':
      return listBoundNames(pattern.parameter)
    default:
      return []
  }
}

/** Returns the 1-based line of an offset. */
function createLineFinder(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    let [low, high] = [0, starts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((starts[middle] ?? 0) <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
}

function visitNodes(node: Node, see: (node: Node) => void): void {
  see(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) visitNodes(child, see)
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

const importNodeTypes = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
])

function readImport(node: Node): string | undefined {
  if (node.type === 'TSImportType') return readLiteral(node.source) ?? readLiteral(node.argument)
  return importNodeTypes.has(node.type) ? readLiteral(node.source) : undefined
}

function isLoaded({ type, importKind, exportKind }: Node): boolean {
  return type.endsWith('Declaration') && importKind !== 'type' && exportKind !== 'type'
}

function readLiteral(node: unknown): string | undefined {
  return isNode(node) && typeof node.value === 'string' ? node.value : undefined
}

/** `Date.now` for a member, `setTimeout()` for a call of a plain name, `new Date()` for one without arguments. */
function readUsedName(node: Node): string | undefined {
  if (node.type === 'MemberExpression') return formatDotted(node)
  const callee = isNode(node.callee) && node.callee.type === 'Identifier' ? String(node.callee.name) : undefined
  if (node.type === 'CallExpression' && callee) return `${callee}()`
  if (node.type === 'NewExpression' && callee && (node.arguments as unknown[]).length === 0) return `new ${callee}()`
  return undefined
}

function formatDotted(node: Node): string | undefined {
  const { object, property } = node
  if (node.computed || !isNode(object) || !isNode(property) || object.type !== 'Identifier') return undefined
  return `${object.name}.${property.name}`
}

function resolveImport(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier)
  if (specifier.startsWith('node:')) return specifier
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
