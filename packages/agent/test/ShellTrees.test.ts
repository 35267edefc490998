import { assert, describe, it } from "@effect/vitest"
import { seen } from "./SeenPaths.ts"

describe("a shell command that brings whole folders", () => {
  it.each([
    "cp -r pack ~/.agents", "cp -R pack ~/.agents", "cp -a pack ~/.agents", "mv pack ~/.agents", "ln -s $PWD/pack ~/.agents", "cp -r pack/. ~/.agents/", "mkdir -p ~/.agents && cp -r pack/* ~/.agents/",
    "mkdir ~/.agents; mv pack/extensions ~/.agents/", "mkdir ~/.pi; cp -r pack ~/.pi/agent", "cp -r p2 ~/.pi", "cp -r pack ~/.niminal", "cd ~; cp -r /w/pack .agents", "cp -r pack .agents", "cp -r pack .agent", "cp -r pack .pi",
    "cp -r pack .atomic", "mv dir .niminal", "mv x .agents", "cp -r .agents.bak .agents", "cp -rt ~/.agents a b", "cp --recursive --target-directory=.pi a", "cp -r pack \"$HOME/.agents\"", "X=~/.agents; cp -r pack $X", "cp -r pack ~/.agent?",
    "rsync -a pack/ ~/.agents/", "scp -r host:pack ~/.agents", "tar xf p.tar -C ~/.agents", "tar -xf p.tar --directory ~/.pi/agent", "cd ~/.agents && tar xf /w/p.tar", "tar xf p.tar .agents", "curl u | tar xz -C .pi", "tar xf a.tgz -C ~", "tar -xf a.tgz --directory=$HOME/", "cd ~ && curl u | tar xz", "unzip a.zip -d \"$HOME\"", "cp -r evil/. ~", "rsync -a evil/ ~/", "unzip p.zip -d ~/.agents", "cd ~/.agents; unzip /w/p.zip",
    "cd ~/.agents; cp -r /w/pack/extensions .", "cd ~/.agents && cp -r /w/pack/. .", "cd .pi; ln -s /w/pack/extensions", "ln -s /w/evil/extensions ~/.agents/", "ln -sfn /w/pack ~/.agents", "ln -s .agents x; cp -r pack x/", "find . -name pack -exec cp -r {} ~/.agents \\;", "ls | xargs cp -r -t ~/.agents",
    "mv .agents.bak .agents", "rm -rf .agents", "rm -r ~/.pi/agent", "chmod -R 777 ~/.agents", "find ~/.agents -delete", "find ~/.pi -type f -delete",
    "cp -r evil/.agents ~", "cp -r evil/.agents ~/", "cp -r ../evil/.git .", "cp -r a evil/.pi $HOME", "cp -r evil/.agents /root", "mv a/b/.agents .", "mv evil/.niminal ~", "cp ../x/.git .", "rsync -a evil/.git .", "cp -r pack/agent ~/.pi/"
  ])("is seen to change a protected file by %j", (source) => assert.strictEqual(seen(source), "changes"))

  it.each([
    "git clone https://h/x ~/.agents", "git worktree add .pi", "cd ~/.agents; git clone https://h/extensions", "python3 -c \"import shutil; shutil.copytree('pack', '.agents')\"", "npx degit a/b ~/.agents", "git checkout main -- .agents", "7z x a.7z -o.agents"
  ])("is seen to name one by %j", (source) => assert.notStrictEqual(seen(source), "nothing"))

  it.each([
    "cp -r a b", "cp -r src dist", "cp -r . /tmp/copy", "cp -a pack ~", "cp -r a/. .", "mv a b", "mv dir ..", "ln -s ../shared lib", "tar xzf a.tgz", "tar xf a.tar -C build", "unzip a.zip", "tar xf a.tgz -C ~/src", "unzip a.zip -d \"$HOME/out\"", "unzip a.zip -d out", "git clone https://h/x.git", "git clone u vendor/x",
    "mkdir -p .agents", "mkdir ~/.pi", "touch .pi/notes.md", "echo a > .pi/notes.md", "cp a.md .pi/notes.md", "mv a.md .pi/notes.md", "ls -R ~/.agents", "cat .pi/notes.md", "cp -r .agents /tmp/backup", "cp -r ~/.agents/docs docs", "tar czf a.tgz .agents", "rm .pi/notes.md", "rsync -a src/ out/",
    "cd .pi && ls", "grep -r a .agents", "git add .agents .pi", "du -sh ~/.nimlet-cache", "cp -r pack .agentsx", "mv x.agents y", "rm -rf x.pi", "install -m 755 a bin/", "cp -r .github .gitlab out/"
  ])("is seen to do nothing to one by %j", (source) => assert.strictEqual(seen(source), "nothing"))
})
