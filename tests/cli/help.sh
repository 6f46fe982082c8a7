# golden: the help text, which is generated from the table of options
wb help
for command in inspect verify doctor export get codec hash diff list convert help; do
    wb help $command >help.txt
    cat help.txt
    wb $command --help | cmp - help.txt
    wb -h $command | cmp - help.txt
done
wb --version
