import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { nameOf, type Manifest } from './manifests.ts';

/** Returns the module with the class and the interface of an object's kind: those of Kubernetes, or of KEDA. */
const moduleOf = ({ apiVersion }: Manifest) =>
  apiVersion.startsWith('keda.sh/')
    ? `@kubernetes-models/keda/${apiVersion}`
    : `kubernetes-models/${apiVersion}`;

interface Model {
  validate(): void;
}
type Models = Record<string, new (object: Manifest) => Model>;

/** Returns what the schemas of Kubernetes and KEDA say against an object: missing fields, wrong types, unknown kinds. */
export async function violations(object: Manifest): Promise<string[]> {
  const models = (await import(moduleOf(object))) as Models;
  const Kind = models[object.kind];
  if (!Kind) return [`${nameOf(object)}: ${object.apiVersion} has no such kind`];
  try {
    new Kind(object).validate();
    return [];
  } catch (error) {
    return [`${nameOf(object)}: ${(error as Error).message}`];
  }
}

// The schemas of Kubernetes allow unknown fields, but the API server ignores them: a misspelled probe would
// be none. So the compiler checks the objects as literals of the interfaces, which must not have other
// fields.
const FILE = fileURLToPath(new URL('rendered-manifests.ts', import.meta.url));

/** Returns the compiler's messages about these objects, with their names. */
export function unknownFields(objects: readonly Manifest[]): string[] {
  const lines = objects.map(
    (object) => `(${JSON.stringify(object)}) satisfies import('${moduleOf(object)}').I${object.kind};`,
  );
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2024,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const text = `${lines.join('\n')}\nexport {};`;
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => file === FILE || fileExists(file);
  host.getSourceFile = (file, languageVersion, ...rest) =>
    file === FILE
      ? ts.createSourceFile(file, text, languageVersion)
      : getSourceFile(file, languageVersion, ...rest);
  const program = ts.createProgram([FILE], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText, start, file }) => {
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line : 0;
    const object = objects[line];
    return `${object ? nameOf(object) : ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}
