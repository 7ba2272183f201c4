// Writes the licence text of each component into the bundle; a component without one stops the release.
import fs from 'node:fs'
import path from 'node:path'

/** Texts of the licences of packages that name their licence and ship without its text. */
const texts = {
  MIT: (holder) => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`,
  ISC: (holder) => `ISC License

Copyright (c) ${holder}

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`,
  blessing: () => `The author disclaims copyright to this source code. In place of a legal notice, here is a blessing:

May you do good and not evil.
May you find forgiveness for yourself and forgive others.
May you share freely, never taking more than you give.
`,
}

/** One folder for each component; libraries of Node share its text, which quotes theirs. */
export function writeLicences({ root, into, components }) {
  fs.mkdirSync(into, { recursive: true })
  const own = path.join(root, 'LICENSE')
  fs.copyFileSync(own, path.join(into, 'LICENSE'))
  for (const component of components) {
    const { name, version, purl } = component
    if (purl.endsWith('?in=node')) continue
    const folder = path.join(into, `${name}-${version}`)
    fs.mkdirSync(folder, { recursive: true })
    for (const file of component.texts) fs.copyFileSync(file, path.join(folder, path.basename(file)))
    if (component.texts.length === 0) fs.writeFileSync(path.join(folder, 'LICENSE'), standardText(component, own))
  }
}

function standardText({ name, version, licence, author }, apache) {
  if (licence === 'Apache-2.0') return fs.readFileSync(apache, 'utf8')
  const text = texts[licence]
  if (!text) throw new Error(`${name} ${version} ships without its licence ${licence}; add the text to licences.mjs`)
  return text(author ?? `the authors of ${name}`)
}
