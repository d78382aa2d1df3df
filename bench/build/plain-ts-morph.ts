/** The peer of the reader: ts-morph's own project and wrappers, used as its documentation shows. */
import { Project } from 'ts-morph'

interface Marked {
  getDecorators(): { getName(): string; getArguments(): { getText(): string }[] }[]
}

interface DecoratorFact {
  name: string
  arguments: string[]
}

interface ParameterFact {
  name: string
  type: string | undefined
  decorators: DecoratorFact[]
}

interface ClassFact {
  file: string
  name: string | undefined
  decorators: DecoratorFact[]
  dependencies: ParameterFact[]
  methods: { name: string; decorators: DecoratorFact[]; parameters: ParameterFact[] }[]
}

/** @param root absolute. @returns the number of items that were read, so that no work can be skipped. */
export function scanWithTsMorph(root: string): number {
  const project = new Project({
    skipAddingFilesFromTsConfig: true,
    skipFileDependencyResolution: true,
    skipLoadingLibFiles: true,
  })
  project.addSourceFilesAtPaths(`${root}/src/**/*.ts`)
  return factsOf(project).reduce((sum, fact) => sum + count(fact), 0)
}

/** Types are read as text. Asking the checker for them would be much slower. */
function factsOf(project: Project): ClassFact[] {
  return project.getSourceFiles().flatMap((file) =>
    file.getClasses().map((declaration) => ({
      file: file.getFilePath(),
      name: declaration.getName(),
      decorators: decoratorsOf(declaration),
      dependencies: declaration.getConstructors().flatMap((one) => one.getParameters().map(parameterFact)),
      methods: declaration
        .getMethods()
        .filter((method) => method.getDecorators().length > 0)
        .map((method) => ({
          name: method.getName(),
          decorators: decoratorsOf(method),
          parameters: method.getParameters().map(parameterFact),
        })),
    })),
  )
}

function parameterFact(
  parameter: Marked & { getName(): string; getTypeNode(): { getText(): string } | undefined },
): ParameterFact {
  return {
    name: parameter.getName(),
    type: parameter.getTypeNode()?.getText(),
    decorators: decoratorsOf(parameter),
  }
}

function decoratorsOf(node: Marked): DecoratorFact[] {
  return node.getDecorators().map((decorator) => ({
    name: decorator.getName(),
    arguments: decorator.getArguments().map((argument) => argument.getText()),
  }))
}

function count({ decorators, dependencies, methods }: ClassFact): number {
  const ofDecorators = (list: DecoratorFact[]) => list.reduce((sum, one) => sum + 1 + one.arguments.length, 0)
  const ofParameters = (list: ParameterFact[]) => list.reduce((sum, one) => sum + 1 + ofDecorators(one.decorators), 0)
  return (
    1 +
    ofDecorators(decorators) +
    ofParameters(dependencies) +
    methods.reduce((sum, one) => sum + 1 + ofDecorators(one.decorators) + ofParameters(one.parameters), 0)
  )
}
