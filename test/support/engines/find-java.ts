// Finds a Java that is new enough for OpenSearch.
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'

/** The default `java` is often older than the server needs; newer ones lie beside it. */
export function findNewestJava(): string | undefined {
  const byDefault = findDefaultJava()
  const beside = byDefault ? readdirSync(path.dirname(byDefault)).map((each) => path.join(byDefault, '..', each)) : []
  return [process.env.OPENSEARCH_JAVA_HOME, process.env.JAVA_HOME, byDefault, ...beside].find(
    (each) => each !== undefined && readJavaVersion(each) >= 21,
  )
}

export function findDefaultJava(): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    try {
      return path.resolve(realpathSync(path.join(folder, 'java')), '../..')
    } catch {}
  }
  return undefined
}

export function readJavaVersion(folder: string): number {
  try {
    const release = readFileSync(path.join(folder, 'release'), 'utf8')
    return Number(/^JAVA_VERSION="(\d+)/m.exec(release)?.[1] ?? 0)
  } catch {
    return 0
  }
}
