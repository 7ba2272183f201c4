// Writes the bill of materials of an executable in both common formats: CycloneDX 1.6 and SPDX 2.3.
import { createHash } from 'node:crypto'

/** `about`: name, version, arch, commit, date; `sha256`: of the executable. */
export function cyclonedx({ about, sha256, components }) {
  const root = { ...rootComponent(about), hashes: [{ alg: 'SHA-256', content: sha256 }] }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${sha256} cyclonedx`)}`,
    version: 1,
    metadata: {
      timestamp: about.date,
      tools: { components: [{ type: 'application', name: 'scripts/release', version: about.version }] },
      component: root,
    },
    components: components.map(({ name, version, licence, purl, integrity, author }) => ({
      ...{ type: 'library', 'bom-ref': purl, name, version, purl, licenses: [cyclonedxLicence(licence)] },
      ...(author ? { author } : {}),
      ...(integrity ? { hashes: [{ alg: 'SHA-512', content: hexOf(integrity) }] } : {}),
    })),
    dependencies: [
      { ref: root['bom-ref'], dependsOn: components.map(({ purl }) => purl) },
      ...components.map(({ purl }) => ({ ref: purl })),
    ],
  }
}

export function spdx({ about, sha256, components }) {
  const rootId = 'SPDXRef-platform'
  const packages = components.map(({ name, version, licence, purl, integrity, author }, at) => ({
    ...{ SPDXID: `SPDXRef-component-${at}`, name, versionInfo: version, downloadLocation: 'NOASSERTION' },
    ...{
      filesAnalyzed: false,
      licenseConcluded: 'NOASSERTION',
      licenseDeclared: licence,
      copyrightText: 'NOASSERTION',
    },
    ...(author ? { supplier: `Person: ${author.replaceAll(/\s*[<(].*$/g, '')}` } : {}),
    ...(integrity ? { checksums: [{ algorithm: 'SHA512', checksumValue: hexOf(integrity) }] } : {}),
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
  }))
  const root = {
    ...{ SPDXID: rootId, name: about.name, versionInfo: about.version, downloadLocation: 'NOASSERTION' },
    ...{
      filesAnalyzed: false,
      licenseConcluded: 'Apache-2.0',
      licenseDeclared: 'Apache-2.0',
      copyrightText: 'NOASSERTION',
    },
    ...{ primaryPackagePurpose: 'APPLICATION', checksums: [{ algorithm: 'SHA256', checksumValue: sha256 }] },
  }
  const relate = (spdxElementId, relationshipType, relatedSpdxElement) => ({
    spdxElementId,
    relationshipType,
    relatedSpdxElement,
  })
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${about.name}-${about.version}-linux-${about.arch}`,
    documentNamespace: `urn:uuid:${uuidOf(`${sha256} spdx`)}`,
    creationInfo: { created: about.date, creators: [`Tool: scripts/release-${about.version}`] },
    packages: [root, ...packages],
    relationships: [
      relate('SPDXRef-DOCUMENT', 'DESCRIBES', rootId),
      ...packages.map(({ SPDXID }) => relate(rootId, 'CONTAINS', SPDXID)),
    ],
  }
}

function rootComponent({ name, version, arch, commit }) {
  const purl = `pkg:generic/${name}@${version}?arch=${arch}&commit=${commit}`
  return { type: 'application', 'bom-ref': purl, name, version, purl, licenses: [{ license: { id: 'Apache-2.0' } }] }
}

/** One licence is named by its id; several are an expression. */
function cyclonedxLicence(licence) {
  return /^[\w.-]+$/.test(licence) ? { license: { id: licence } } : { expression: licence.replace(/^\((.*)\)$/, '$1') }
}

function hexOf(integrity) {
  return Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
}

/** Of the content, so that two builds of one source have the same id (RFC 9562, version 8). */
function uuidOf(text) {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = (bytes[6] & 0x0f) | 0x80
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
