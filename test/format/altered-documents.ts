// Altered documents of every vector that holds: files that two verifiers must judge alike.
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileAlterations, type Random, seedRandom, spellingAlterations } from './alterations.ts'
import { alterEvidence, alterLines, alterSnapshot } from './content-alterations.ts'
import {
  type AlteredFile,
  alterAmount,
  alterBodyFile,
  alterDocument,
  alterHeader,
  alterInside,
  alterKeySet,
  alterSignatures,
  alterSigned,
  alterSignedBody,
  alterSigner,
  findSigners,
  messageFiles,
  pick,
  type VectorSource,
} from './signed-alterations.ts'
import type { Vector } from './vector-writer.ts'

/** `name`: vector, part and alteration; the same at every run. */
export type AlteredDocument = Vector & { readonly name: string }

type AlterationPart = {
  readonly part: string
  readonly files: RegExp
  readonly count: number
  readonly alter: (source: VectorSource, random: Random) => Promise<AlteredFile> | AlteredFile
}

const jsonFiles = /\.json$/

const signedFiles = /(env|MANIFEST|receipt|request|approval)\.json$/

const parts: readonly AlterationPart[] = [
  {
    part: 'file',
    files: /./,
    count: 5,
    alter: ({ text, body }, random) => ({ ...pick(fileAlterations, random)(text), body }),
  },
  { part: 'body', files: messageFiles, count: 3, alter: ({ text, body }, random) => alterBodyFile(text, body, random) },
  {
    part: 'spelling',
    files: jsonFiles,
    count: 5,
    alter: ({ text, body }, random) => ({ ...pick(spellingAlterations, random)(text), body }),
  },
  {
    part: 'document',
    files: jsonFiles,
    count: 8,
    alter: ({ text, body }, random) => ({ ...alterDocument(text, random), body }),
  },
  {
    part: 'signatures',
    files: signedFiles,
    count: 6,
    alter: ({ text, body }, random) => ({ ...alterSignatures(text, random), body }),
  },
  { part: 'header', files: signedFiles, count: 3, alter: alterHeader },
  { part: 'signed', files: signedFiles, count: 10, alter: alterSigned },
  { part: 'signer', files: signedFiles, count: 3, alter: alterSigner },
  { part: 'signed body', files: messageFiles, count: 10, alter: alterSignedBody },
  {
    part: 'signed inside',
    files: /(0000000[12]-000000000000001[012]|00000002-0000000000000001)\.env\.json$/,
    count: 25,
    alter: alterInside,
  },
  { part: 'content', files: /\.evidence\.json$/, count: 40, alter: alterEvidence },
  { part: 'lines', files: /\.jsonl$/, count: 60, alter: ({ text }, random) => alterLines(text, random) },
  { part: 'snapshot', files: /\.snapshot$/, count: 60, alter: ({ text }, random) => alterSnapshot(text, random) },
  { part: 'set', files: /keysets\/.*\.json$/, count: 40, alter: alterKeySet },
  { part: 'amount', files: messageFiles, count: 4, alter: alterAmount },
]

/** Writes the altered files below `dir`; each has a folder of its own. */
export async function alterVectors(
  vectors: string,
  sound: readonly Vector[],
  dir: string,
  seed = 0,
): Promise<AlteredDocument[]> {
  const altered: AlteredDocument[] = []
  for (const [index, vector] of sound.entries()) {
    const random = seedRandom(seed * 1_000 + index + 1)
    const source = readSource(join(vectors, vector.path))
    for (const { part, count, alter } of parts.filter(({ files }) => files.test(vector.path))) {
      for (let time = 0; time < count; time++) {
        const { change, ...file } = await alter(source, random)
        const folder = join(dir, String(altered.length))
        const path = writeAltered(vectors, vector.path, folder, file)
        altered.push({
          ...vector,
          path,
          keys: resolveKeys(vectors, vector.keys),
          name: `${vector.path} ${part} ${time}: ${change}`,
        })
      }
    }
  }
  return altered
}

/** The same list with the files below this folder. */
export function resolveKeys(vectors: string, keys: string): string {
  return keys
    .split(',')
    .map((each) => each.replace(/[^=]*$/, (path) => join(vectors, path)))
    .join(',')
}

function readSource(path: string): VectorSource {
  const text = fs.readFileSync(path, 'utf8')
  const body = messageFiles.test(path) ? fs.readFileSync(path.replace('.env.', '.body.'), 'utf8') : ''
  return { path, text, body, signers: findSigners(text) }
}

function writeAltered(
  vectors: string,
  path: string,
  folder: string,
  { text, body }: Omit<AlteredFile, 'change'>,
): string {
  const place = join(folder, basename(dirname(path)), basename(path))
  if (basename(path) === 'MANIFEST.json') fs.cpSync(join(vectors, dirname(path)), dirname(place), { recursive: true })
  fs.mkdirSync(dirname(place), { recursive: true })
  fs.writeFileSync(place, text)
  if (body !== undefined && messageFiles.test(path)) fs.writeFileSync(place.replace('.env.', '.body.'), body)
  return place
}
